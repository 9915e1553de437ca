// SPDX-License-Identifier: BSD-3-Clause
#include "src/api/runtime_call.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "src/api/arguments.hpp"
#include "src/api/environment.hpp"
#include "src/api/no_memory.hpp"
#include "src/api/prepare.hpp"
#include "tasks/gemm_graph.hpp"

namespace heptad {
namespace {

/// C := beta C as one task.
std::shared_ptr<prepared_plan const> only_scaled(element_type type, problem const& shape,
                                                 machine_profile const& machine) {
  auto p = std::make_shared<prepared_plan>();
  p->how.type = type;
  p->how.shape = shape;
  p->how.reason = "alpha or k is 0: C is only scaled";
  p->work = build_gemm_graph(p->how, machine, tiling::cells);
  p->order = derive_dependencies(p->work, false);
  p->how.tasks = p->work.tasks.size();
  return p;
}

template <typename T>
class bound_call final : public runtime_call {
public:
  bound_call(context::impl& state, T alpha, T beta, plan_key key, lease_wishes const& lease)
      : state_(state), key_(std::move(key)), lease_(lease), alpha_(alpha), beta_(beta) {
    memory_.prepared = only_scales() ? only_scaled(key_.type, key_.shape, state.machine()) : prepare(state, key_);
  }

  [[nodiscard]] bound_product product() const override {
    prepared_plan const& p = *memory_.prepared;
    bound_product x;
    x.work = &p.work;
    x.in_cells = true;
    x.order = &p.order;
    x.body = body_.get();
    x.on_devices = p.on_devices.get();
    x.only_on_devices = p.only_on_devices;
    x.orders[space_A] = p.how.shape.a_row_major ? orientation::row_major : orientation::column_major;
    x.orders[space_B] = p.how.shape.b_row_major ? orientation::row_major : orientation::column_major;
    x.workspace = memory_.shared_bytes > 0 ? memory_.shared() : nullptr;
    x.scratch = [this](int lane) { return memory_.scratch(lane); };
    x.ordered = p.how.deterministic;
    x.alpha = alpha_;
    x.beta = beta_;
    return x;
  }

  [[nodiscard]] plan const& how() const override { return memory_.prepared->how; }

  [[nodiscard]] std::size_t bytes() const override { return bytes_for(*memory_.prepared, lease_); }

  void take_memory() override {
    if (!only_scales()) memory_ = with_memory(state_, key_, memory_.prepared, lease_);
    prepared_plan const& p = *memory_.prepared;
    body_ = make_executor<T>(p.work, p.how, {static_cast<T>(alpha_), {}, {}, static_cast<T>(beta_), {}}, nullptr);
  }

private:
  [[nodiscard]] bool only_scales() const noexcept { return key_.shape.k == 0; }

  context::impl& state_;
  plan_key key_;
  lease_wishes lease_;
  workspace memory_;
  std::unique_ptr<executor> body_;
  double alpha_, beta_;
};

}  // namespace

runtime_call::~runtime_call() = default;

template <typename T>
std::unique_ptr<runtime_call> make_runtime_call(T alpha, T beta, runtime_request const& request) try {
  constexpr auto type = sizeof(T) == sizeof(double) ? element_type::f64 : element_type::f32;
  context::impl& state = default_context().state();
  options wishes = with_defaults(request.wishes, state.defaults);
  wishes.scheduler = scheduler_kind::starpu;
  check_options(wishes, type);
  plan_key key{type, request.shape, request.workers, wishes, request.devices};
  if (alpha == T(0)) key.shape.k = 0;
  lease_wishes const lease{request.lanes, request.with_workspace};
  return std::make_unique<bound_call<T>>(state, alpha, beta, std::move(key), lease);
} catch (std::bad_alloc const&) {
  throw no_memory;
}

template HEPTAD_API std::unique_ptr<runtime_call> make_runtime_call(double, double, runtime_request const&);
template HEPTAD_API std::unique_ptr<runtime_call> make_runtime_call(float, float, runtime_request const&);

}  // namespace heptad
