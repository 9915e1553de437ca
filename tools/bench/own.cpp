// SPDX-License-Identifier: BSD-3-Clause
// Heptad as a library under test: the public call, planning included.
#include <heptad/heptad.hpp>

#include "src/plan/plan_json.hpp"
#include "tools/bench/library.hpp"

namespace heptad::bench {
namespace {

class own final : public library {
public:
  own(int threads, own_options const& wishes) : workers_(threads) {
    wishes_.max_levels = wishes.max_levels;
    wishes_.algorithm = wishes.algorithm;
    wishes_.max_workspace = wishes.max_workspace;
  }
  [[nodiscard]] library_info info() const override { return {"heptad", version(), "", ""}; }
  void multiply(operands<double>& on) override { run(on); }
  void multiply(operands<float>& on) override { run(on); }
  [[nodiscard]] double error_bound(gemm_case const&) const override { return last_.plan.bound; }

  [[nodiscard]] nlohmann::json last_call() const override {
    nlohmann::json plan = plan_to_json(last_.plan);
    plan.erase("candidates");  // `heptad explain` has them
    return {{"plan", plan},
            {"tasks", last_.tasks},
            {"workspace", last_.workspace},
            {"idle_fraction", last_.idle_fraction},
            {"precaution_fraction", last_.precaution_seconds / last_.seconds},
            {"fell_back", last_.fell_back}};
  }
  [[nodiscard]] std::optional<double> idle_fraction() const override { return last_.idle_fraction; }

private:
  template <typename T>
  void run(operands<T>& on) {
    auto const view = [](matrix<T> const& x) {
      auto* const layout = x.transposed() ? row_major<T const> : column_major<T const>;
      return layout(x.data(), x.rows(), x.cols(), x.leading_dimension());
    };
    last_ = gemm<T>(workers_, T(1), view(on.A), view(on.B), static_cast<T>(on.what.beta),
                    column_major<T>(on.C.data(), on.C.rows(), on.C.cols(), on.C.rows()), wishes_);
  }

  context workers_;
  options wishes_;
  report last_;
};

}  // namespace

void to_json(nlohmann::json& to, own_options const& from) {
  to = {{"max_levels", from.max_levels}, {"max_workspace", nullptr}, {"algorithm", from.algorithm}};
  if (from.max_workspace) to["max_workspace"] = *from.max_workspace;
}

void from_json(nlohmann::json const& from, own_options& to) {
  from.at("max_levels").get_to(to.max_levels);
  if (auto const& bytes = from.at("max_workspace"); !bytes.is_null()) to.max_workspace = bytes.get<std::size_t>();
  from.at("algorithm").get_to(to.algorithm);
}

std::unique_ptr<library> make_own(int threads, own_options const& wishes) {
  return std::make_unique<own>(threads, wishes);
}

}  // namespace heptad::bench
