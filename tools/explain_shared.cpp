// SPDX-License-Identifier: BSD-3-Clause
// heptad explain gemm --device cuda --devices N: how a product of host matrices would be shared by this machine's CPU
// and so many devices, by the rates that Heptad knows. No device is needed.
#include "tools/explain_shared.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "src/api/hybrid.hpp"
#include "src/plan/device_planner.hpp"
#include "src/plan/plan_json.hpp"
#include "tasks/transfer_planner.hpp"
#include "tools/print_json.hpp"

namespace heptad::tools {
namespace {

/// Equal devices that are predicted and never run.
class devices_on_paper final : public device_backend {
public:
  cuda::device_profile profile;
  int count = 1;

  [[nodiscard]] char const* version() const noexcept override { return heptad::version(); }
  std::vector<found_device> devices() override {
    std::vector<found_device> all;
    for (int d = 0; d < count; ++d) all.push_back({d, profile.name, ""});
    return all;
  }
  bool is_pinned(char const*, void const*, void const*) override { return true; }
  device_forecast predict(device_share const& who, element_type type, problem const& shape, bool pinned) override {
    auto const sharers = static_cast<std::size_t>(who.sharers);
    cuda::transfer_means const means{who.max_device_memory.value_or(profile.memory_bytes / 10 * 9) / sharers, pinned,
                                     who.copy_threads};
    auto const how = cuda::choose_transfer_plan(type, shape, means, profile, cuda::options_of(who.wishes));
    return {who.sharers * how.forecast.seconds,
            cuda::describe_blocks(how.products.front(), how.work.products, how.resident)};
  }
  device_work multiply(device_share const&, any_device_product const&, std::atomic<bool>&) override {
    throw error(status::internal_error, "devices on paper compute nothing");
  }
};

devices_on_paper paper;
device_backend& find_paper() { return paper; }

nlohmann::json shared_plan_to_json(hybrid::plan const& how) {
  nlohmann::json out = {{"type", how.type == element_type::f64 ? "f64" : "f32"},
                        {"m", how.shape.m},
                        {"n", how.shape.n},
                        {"k", how.shape.k},
                        {"beta_zero", how.shape.beta_zero},
                        {"pinned", how.pinned},
                        {"seconds", how.predicted_seconds},
                        {"alone_seconds", how.alone_seconds},
                        {"parts", nlohmann::json::array()},
                        {"absent", how.absent}};
  for (hybrid::part const& p : how.parts)
    out["parts"].push_back({{"who", p.who},
                            {"device", p.device},
                            {"logical", p.logical},
                            {"row", p.row},
                            {"col", p.col},
                            {"rows", p.rows},
                            {"cols", p.cols},
                            {"share", p.share},
                            {"seconds", p.predicted_seconds},
                            {"how", p.how}});
  return out;
}

}  // namespace

void explain_shared(shared_arguments const& given, element_type type, problem const& shape,
                    cuda::device_profile const& device, options const& product, bool json) {
  paper.profile = device;
  paper.count = given.devices;
  hybrid::options wishes;
  wishes.product = product;
  wishes.logical_devices = given.logical_devices;
  wishes.cpu_share = given.cpu_share;
  wishes.copy_threads = given.copy_threads;
  wishes.take_over = false;
  auto const how = hybrid::make_plan(default_context(), find_paper, type, shape, !given.pageable, wishes);
  if (json) print_json(shared_plan_to_json(how));
  else fmt::print("{}", hybrid::explain(how));
}

}  // namespace heptad::tools
