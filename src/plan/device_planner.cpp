// SPDX-License-Identifier: BSD-3-Clause
// Few plans are possible, so all are weighed.
#include "src/plan/device_planner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "src/algorithm/algorithm.hpp"
#include "src/matrix/limits.hpp"
#include "src/matrix/reject.hpp"
#include "src/plan/accuracy.hpp"
#include "src/plan/cost_model.hpp"
#include "src/plan/device_cost.hpp"
#include "src/plan/fused_tiles.hpp"

namespace heptad::cuda {
namespace {

constexpr int most_serial = 3;

/// The algorithm of fused levels: its sums have few terms, and its rates are measured.
constexpr char const* fused_algorithm = "strassen";

/// Winograd and Strassen have passes of their own, the former for three composed levels; others run by the general
/// one, a level at a time.
int most_levels_in_a_pass(std::string const& name) {
  if (name == "winograd") return 3;
  if (name == "strassen") return 2;
  level_traffic const& t = known(name, 1).traffic;
  int const blocks = std::max({t.m * t.k, t.k * t.n}), terms = std::max({t.terms_A, t.terms_B, t.terms_C});
  bool const fits = blocks <= most_general_inputs && std::max(t.m * t.n, t.rank) <= most_general_outputs &&
                    t.rank <= most_general_inputs && terms <= most_general_terms;
  return fits ? 1 : 0;
}

/// The stages to weigh for one algorithm, by total levels. Serial stages of one level outside; inside either one more
/// composed stage, its products in turn or in a batch, or nothing.
std::vector<std::vector<stage>> stage_lists(std::string const& name, bool fused) {
  std::vector<std::vector<stage>> lists;
  int const composed = most_levels_in_a_pass(name);
  for (int serial = 0; serial <= most_serial && composed > 0; ++serial) {
    std::vector<stage> const outer(static_cast<std::size_t>(serial), make_stage(name, 1, false));
    if (serial > 0) lists.push_back(outer);
    for (int levels = 1; levels <= composed; ++levels)
      for (bool const batched : {true, false}) {
        if (levels == 1 && !batched) continue;  // one serial level more
        auto list = outer;
        list.push_back(make_stage(name, levels, batched));
        lists.push_back(std::move(list));
      }
    if (!fused) continue;
    lists.push_back(outer);
    lists.back().push_back(make_stage(fused_algorithm, 1, false, true));
  }
  return lists;
}

int levels_of(std::vector<stage> const& stages) {
  int levels = 0;
  for (stage const& s : stages) levels += s.levels;
  return levels;
}

void set_core(plan& p) {
  std::int64_t m = 1, n = 1, k = 1;
  for (stage const& s : p.stages) {
    m *= s.coefficients->m;
    n *= s.coefficients->n;
    k *= s.coefficients->k;
  }
  p.core_m = p.shape.m / m * m;
  p.core_n = p.shape.n / n * n;
  p.core_k = p.shape.k / k * k;
}

/// The tile of the measured cube that is nearest to the products of the fused level.
void set_tile(plan& p, product_rates const& rates) {
  if (p.tile >= 0 || p.stages.empty() || !p.stages.back().fused) return;
  extent leaf{double(p.core_m), double(p.core_n), double(p.core_k)};
  for (stage const& s : p.stages)
    leaf = {leaf.m / s.coefficients->m, leaf.n / s.coefficients->n, leaf.k / s.coefficients->k};
  auto const distance = [size = device_cost::fused_size(leaf)](product_rates::fused_cube const& c) {
    return std::abs(std::log(std::max(size, 1.0) / c.size));
  };
  p.tile = rates.fused.empty() ? 0 : static_cast<int>(std::ranges::min_element(rates.fused, {}, distance)->tile);
}

void set_accuracy(plan& p) {
  std::vector<level_accuracy const*> levels;
  for (stage const& s : p.stages)
    levels.insert(levels.end(), static_cast<std::size_t>(s.levels), &known(s.name, s.levels).accuracy);
  // To first order in u, which depends on the arithmetic. Products are always gathered: their sides do not matter.
  constexpr double any_side = std::numeric_limits<double>::infinity();
  p.bound = error_bound(levels, {double(p.shape.k), any_side, any_side, double(p.core_k), true}, 0).product;
  p.growth = expected_growth(levels);
}

/// Why a plan may not be taken; empty when it may.
std::string refusal(plan const& p, plan const& classical, options const& wishes) {
  if (p.core_m == 0 || p.core_n == 0 || p.core_k == 0) return "smaller than the blocks of these levels";
  if (p.workspace > p.workspace_cap) return fmt::format("workspace above the cap of {} bytes", p.workspace_cap);
  double const growth = wishes.guaranteed ? p.bound / classical.bound : p.growth;
  if (growth > wishes.max_error)
    return fmt::format("error growth {:.3g} above max_error = {:.3g}", growth, wishes.max_error);
  return {};
}

}  // namespace

std::string describe(std::vector<stage> const& stages) {
  if (stages.empty()) return "cuBLAS alone";
  std::string text;
  for (stage const& s : stages)
    text += fmt::format("{}{}{}{}", text.empty() ? "" : ", ", s.name, s.levels > 1 ? fmt::format(" x{}", s.levels) : "",
                        s.batched ? " batched"
                        : s.fused ? " fused"
                                  : "");
  return text;
}

void check_options(options const& wishes) {
  if (!(wishes.max_error >= 1)) reject(fmt::format("max_error = {} must be at least 1", wishes.max_error));
  if (wishes.algorithm == "auto") return;
  if (find_algorithm(wishes.algorithm) == nullptr)
    reject(
        fmt::format("algorithm = '{}' must be auto, a name or a shape that `heptad info` lists, names joined by '*', "
                    "or the path of a file",
                    wishes.algorithm));
}

options options_of(heptad::options const& wishes) {
  options mine;
  mine.max_error = wishes.max_error;
  mine.guaranteed = wishes.guaranteed;
  mine.max_levels = wishes.max_levels;
  mine.force_levels = wishes.force_levels;
  mine.algorithm = wishes.algorithm;
  return mine;
}

stage make_stage(std::string const& algorithm, int levels, bool batched, bool fused) {
  return {algorithm, levels, batched, fused, known(algorithm, levels).composed};
}

void complete_device_plan(plan& p, device_profile const& device) {
  set_core(p);
  set_tile(p, device.rates(p.type, p.arithmetic));
  set_accuracy(p);
  device_cost const model(p, device);
  auto const [seconds, held] = model.run();
  p.seconds = seconds;
  p.classical_seconds = model.product({double(p.shape.m), double(p.shape.n), double(p.shape.k)}, false);
  if (p.stages.empty()) p.seconds = p.classical_seconds;
  p.workspace = static_cast<std::size_t>(held);
  p.device = fmt::format("{} ({}{}{})", device.name, device.measured ? "measured" : "assumed rates",
                         device.remark.empty() ? "" : ": ", device.remark);
}

plan choose_device_plan(element_type type, problem const& shape, std::size_t free_memory, device_profile const& device,
                        options const& wishes) {
  check_options(wishes);
  plan classical;
  classical.type = type;
  classical.shape = shape;
  classical.arithmetic = type == element_type::f64 ? arithmetic::exact : wishes.arithmetic;
  classical.workspace_cap = wishes.max_workspace.value_or(free_memory / 2);
  complete_device_plan(classical, device);
  plan best = classical;
  best.reason =
      fmt::format("no level is predicted to gain {:.0f} % over cuBLAS", 100 * (least_gain(classical.arithmetic) - 1));

  std::string const name = wishes.algorithm == "auto" ? "winograd" : wishes.algorithm;
  if (name == "classical" || wishes.max_levels == 0 || wishes.force_levels == 0) {
    best.reason = "no level was asked for";
    return best;
  }
  bool const forced = wishes.force_levels > 0;
  std::vector<candidate> weighed;
  bool const fused = !device.rates(type, classical.arithmetic).fused.empty() &&
                     (wishes.algorithm == "auto" || wishes.algorithm == fused_algorithm);
  for (auto& stages : stage_lists(name, fused)) {
    int const levels = levels_of(stages);
    if (forced ? levels != wishes.force_levels : wishes.max_levels >= 0 && levels > wishes.max_levels) continue;
    plan p = classical;
    p.stages = std::move(stages);
    p.accumulation = wishes.accumulation.value_or(accumulation::ordered);
    complete_device_plan(p, device);
    if (p.stages.back().fused && !wishes.accumulation && p.workspace > p.workspace_cap) {
      p.accumulation = accumulation::streams;  // no counters
      complete_device_plan(p, device);
    }
    if (p.core_m == 0 || p.core_n == 0 || p.core_k == 0) continue;
    std::string verdict = refusal(p, classical, wishes);
    bool const gains = forced ? best.stages.empty() || p.seconds < best.seconds
                              : p.seconds < best.seconds && p.seconds * least_gain(p.arithmetic) <= classical.seconds;
    if (verdict.empty() && gains) {
      best = p;
      best.reason = fmt::format("{}, predicted {:.3f} times as fast as cuBLAS", describe(p.stages),
                                classical.seconds / p.seconds);
    }
    if (verdict.empty()) verdict = gains ? "the best so far" : "slower";
    weighed.push_back({describe(p.stages), p.seconds, p.workspace, p.growth, p.bound, verdict, nullptr});
  }
  if (forced && best.stages.empty())
    best.reason =
        fmt::format("{} levels do not fit: too small, too much workspace or too large an error", wishes.force_levels);
  best.candidates = std::move(weighed);
  return best;
}

std::string explain(plan const& how) {
  std::string text;
  auto const line = [&text](char const* label, std::string const& value) {
    text += fmt::format("{:<12}{}\n", label, value);
  };
  problem const& x = how.shape;
  double const flops = 2.0 * double(x.m) * double(x.n) * double(x.k);
  auto const speed = [&](double seconds) {
    return fmt::format("{:.3f} ms, {:.2f} TFLOP/s", seconds * 1e3, seconds > 0 ? flops / seconds / 1e12 : 0.0);
  };
  constexpr std::array<char const*, 3> names{"exact", "TF32", "BF16"};
  line("product", fmt::format("{} {} x {} x {} (m x n x k){}", how.type == element_type::f64 ? "dgemm" : "sgemm", x.m,
                              x.n, x.k, x.beta_zero ? ", beta = 0" : ""));
  line("device", how.device);
  line("arithmetic", names[static_cast<std::size_t>(how.arithmetic)]);
  line("stages", describe(how.stages));
  constexpr std::array<char const*, 3> ways{"ordered, one launch", "atomic, one launch", "streams, a launch each"};
  if (!how.stages.empty() && how.stages.back().fused)
    line("accumulate", ways[static_cast<std::size_t>(how.accumulation)]);
  if (!how.stages.empty())
    line("core", fmt::format("{} x {} x {}, fringes classical", how.core_m, how.core_n, how.core_k));
  line("workspace", fmt::format("{} bytes, cap {}", how.workspace, how.workspace_cap));
  line("bound", fmt::format("|C - computed C|max <= {:.4g} u |A|max |B|max", how.bound));
  line("growth", fmt::format("{:.3g} times the error of the classical product, expected", how.growth));
  line("predicted", speed(how.seconds));
  line("cuBLAS", speed(how.classical_seconds));
  line("reason", how.reason);
  for (candidate const& c : how.candidates)
    line("considered", fmt::format("{}: {:.3f} ms, {} bytes, growth {:.3g}; {}", c.description, c.seconds * 1e3,
                                   c.workspace, c.growth, c.verdict));
  return text;
}

bool lacks_memory(plan const& how, device_profile const& device, options const& wishes) {
  if (wishes.max_workspace) return false;
  plan const roomy = choose_device_plan(how.type, how.shape, device.memory_bytes, device, wishes);
  return describe(roomy.stages) != describe(how.stages) || roomy.accumulation != how.accumulation;
}

}  // namespace heptad::cuda
