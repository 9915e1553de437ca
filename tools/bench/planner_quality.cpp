// SPDX-License-Identifier: BSD-3-Clause
#include "tools/bench/planner_quality.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include <heptad/heptad.hpp>

#include "src/api/context.hpp"
#include "src/api/median.hpp"
#include "src/api/prepare.hpp"
#include "src/plan/plan_json.hpp"
#include "src/plan/planner.hpp"
#include "tools/bench/operands.hpp"
#include "tools/bench/steady_times.hpp"

namespace heptad::bench {
namespace {

using nlohmann::json;

json to_json(plan const& p) {
  json result = choices_to_json(p);
  for (char const* same : {"deterministic", "kernel"}) result.erase(same);
  result["predicted_seconds"] = p.seconds;
  result["growth"] = p.growth;
  result["workspace"] = p.workspace;
  return result;
}

problem problem_of(gemm_case const& what) {
  problem shape;
  shape.m = what.m, shape.n = what.n, shape.k = what.k;
  shape.beta_zero = what.beta == 0;
  return shape;
}

plan from_json(gemm_case const& what, json recorded) {
  recorded["deterministic"] = false;
  recorded["kernel"] = "auto";
  plan p = choices_from_json(recorded);
  p.type = what.type == 'd' ? element_type::f64 : element_type::f32;
  p.shape = problem_of(what);
  p.workers = what.threads;
  return p;
}

/// Operands on which plans for one case run.
template <typename T>
class plan_runner {
public:
  plan_runner(context& workers, gemm_case const& what) : workers_(workers), what_(what), on_(what) { on_.reset_c(); }

  double seconds(plan const& p) {
    return gemm<T>(workers_, p, T(1), column_major<T const>(on_.A.data(), what_.m, what_.k, what_.m),
                   column_major<T const>(on_.B.data(), what_.k, what_.n, what_.k), static_cast<T>(what_.beta),
                   column_major<T>(on_.C.data(), what_.m, what_.n, what_.m))
        .seconds;
  }

private:
  context& workers_;
  gemm_case const what_;
  operands<T> on_;
};

/// A classical product, whose time the profile knows well: how much longer it takes tells how fast the machine is.
gemm_case square_beside(gemm_case const& what, std::int64_t n) { return {what.type, n, n, n, what.threads, 0}; }

template <typename T>
json measure_plans(gemm_case const& what, quality_effort const& how) {
  context workers(what.threads);
  constexpr std::size_t variants = 2;
  auto const plans = alternatives(
      workers.state(), {what.type == 'd' ? element_type::f64 : element_type::f32, problem_of(what), what.threads, {}},
      how.plans, variants);
  options classical;
  classical.max_levels = 0;
  gemm_case const beside = square_beside(what, how.yardstick);
  plan const yardstick = make_plan<T>(workers, problem_of(beside), classical);
  std::size_t const yardstick_number = plans.size(), things = plans.size() + 1;
  plan_runner<T> on(workers, what), on_yardstick(workers, beside);
  auto const run = [&](std::size_t i) {
    return i == yardstick_number ? on_yardstick.seconds(yardstick) : on.seconds(plans[i]);
  };
  std::mt19937 random;
  auto const take_turns = [&](std::vector<std::size_t> order, int turns, std::vector<timed_call>& calls) {
    for (int t = 0; t < turns; ++t) {
      std::ranges::shuffle(order, random);  // none is always met by what another one leaves in the caches
      for (std::size_t const i : order) calls.push_back({i, run(i)});
    }
  };
  double slowest = 0;
  for (std::size_t i = 0; i < things; ++i) slowest = std::max(slowest, run(i));  // plans, graphs and memory are made
  int const turns = std::clamp(static_cast<int>(how.plan_seconds / slowest), 5, 15);
  std::vector<std::size_t> all(things);
  std::iota(all.begin(), all.end(), 0u);
  std::vector<timed_call> calls;
  take_turns(all, turns, calls);
  // Those ahead, and the chosen one, are measured twice as often again.
  std::vector<std::size_t> ahead(all.begin(), all.end() - 1);
  std::ranges::sort(ahead, {}, [seconds = steady_times(calls, things)](std::size_t i) { return seconds[i]; });
  ahead.resize(std::min<std::size_t>(ahead.size(), 4));
  if (std::ranges::find(ahead, 0u) == ahead.end()) ahead.push_back(0);
  ahead.push_back(yardstick_number);
  take_turns(ahead, 2 * turns, calls);
  auto const steady = steady_times(calls, things);
  // The least of many noisy times is too low: the one that has it meets the chosen one in calls that did not elect it.
  std::size_t const leader =
      *std::ranges::min_element(all.begin(), all.end() - 1, {}, [&](std::size_t i) { return steady[i]; });
  double behind = 0;
  if (leader != 0) {
    std::vector<timed_call> between;
    take_turns({0, leader}, 4 * turns, between);
    for (timed_call& c : between) c.what = c.what == leader;
    auto const both = steady_times(between, 2);
    behind = std::max(0.0, both[0] / both[1] - 1);
  }

  json result = what;
  result["type"] = std::string(1, what.type);
  result["machine_slower"] = steady[yardstick_number] / yardstick.seconds;
  result["leader"] = leader;
  result["chosen_behind"] = behind;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    std::vector<double> seconds;
    for (timed_call const& c : calls)
      if (c.what == i) seconds.push_back(c.seconds);
    json one = to_json(plans[i]);
    one["seconds"] = steady[i];
    one["median_seconds"] = median(seconds);
    one["least_seconds"] = *std::ranges::min_element(seconds);
    one["runs"] = seconds.size();
    result["plans"].push_back(std::move(one));
  }
  return result;
}

double quantile(std::vector<double> values, double q) {
  std::ranges::sort(values);
  return values.empty() ? 0 : values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1) + 0.5)];
}

}  // namespace

std::vector<gemm_case> planner_grid() {
  struct shape {
    std::int64_t m, n, k;
  };
  std::vector<shape> shapes;
  for (std::int64_t const n : {192, 256, 384, 512, 640, 768, 900, 1024, 1152, 1280, 1536, 1792, 2048})
    shapes.push_back({n, n, n});
  for (std::int64_t const n : {255, 511, 777, 1023, 1025, 1331, 1501, 1999}) shapes.push_back({n, n, n});   // odd
  for (std::int64_t const k : {64, 128, 192, 256, 384, 512, 768, 1024}) shapes.push_back({2304, 2304, k});  // rank-k
  for (std::int64_t const k : {96, 480, 1000}) shapes.push_back({3000, 2000, k});
  for (std::int64_t const k : {2048, 4096, 8192})
    shapes.push_back({768, 768, k}), shapes.push_back({512, 384, k});  // inner
  for (std::int64_t const n : {128, 256, 512, 768})
    shapes.push_back({4096, n, n}), shapes.push_back({n, 4096, n});  // panels
  for (std::int64_t const n : {256, 512}) shapes.push_back({8192, n, n}), shapes.push_back({n, 8192, n});
  for (std::int64_t const b : {192, 320, 448, 512}) {  // ratios of three, and two to three
    shapes.push_back({3 * b, 2 * b, 3 * b});
    shapes.push_back({3 * b, 3 * b, 2 * b});
    shapes.push_back({2 * b, 3 * b, 3 * b});
  }
  for (std::int64_t const b : {256, 448}) {
    shapes.push_back({6 * b, 6 * b, b});
    shapes.push_back({b, 6 * b, 6 * b});
    shapes.push_back({6 * b, b, 6 * b});
    shapes.push_back({4 * b, 2 * b, 4 * b});
  }
  for (shape const& uneven :
       {shape{1000, 1000, 250}, {2500, 500, 500}, {500, 2500, 500}, {1600, 1200, 800}, {1100, 1300, 1700}})
    shapes.push_back(uneven);
  std::vector<gemm_case> grid;
  auto const add = [&](char type, int threads, std::size_t first, std::size_t step) {
    for (std::size_t i = first; i < shapes.size(); i += step)
      grid.push_back({type, shapes[i].m, shapes[i].n, shapes[i].k, threads, i % 4 == 3 ? 1.0 : 0.0});
  };
  add('d', 1, 0, 1);
  add('d', 2, 0, 1);
  add('s', 1, 0, 3);
  add('s', 2, 1, 3);
  return grid;
}

gemm_case case_of(json const& entry) {
  json numbers = entry;
  numbers["type"] = static_cast<int>(entry.at("type").get<std::string>().front());
  return numbers.get<gemm_case>();
}

json measure_plans(gemm_case const& what, quality_effort const& how) {
  return what.type == 'd' ? measure_plans<double>(what, how) : measure_plans<float>(what, how);
}

void predict_again(json& record) {
  context any(1);
  machine_profile const& machine = any.state().machine();
  for (json& one : record.at("cases")) {
    one.erase("machine_slower");  // than the profile of then says
    gemm_case const what = case_of(one);
    for (json& recorded : one.at("plans")) {
      plan p = from_json(what, recorded);
      complete_plan(p, machine);
      recorded["predicted_seconds"] = p.seconds;
    }
  }
}

json summarize(json const& record) {
  std::vector<double> behind, behind_least, off, off_at_speed, off_all, by_model;
  for (json const& one : record.at("cases")) {
    double best = 1e300, cheapest = 1e300, cheapest_took = 0;
    for (json const& p : one.at("plans")) {
      double const took = p.at("seconds"), predicted = p.at("predicted_seconds");
      best = std::min(best, took);
      off_all.push_back(std::abs(predicted / took - 1));
      if (predicted < cheapest) cheapest = predicted, cheapest_took = took;
    }
    json const& chosen = one.at("plans").at(0);
    double const took = chosen.at("seconds"), predicted = chosen.at("predicted_seconds");
    behind_least.push_back(took / best - 1);
    behind.push_back(one.value("chosen_behind", behind_least.back()));
    by_model.push_back(cheapest_took / best - 1);
    off.push_back(std::abs(predicted / took - 1));
    if (one.contains("machine_slower"))
      off_at_speed.push_back(std::abs(predicted * one["machine_slower"].get<double>() / took - 1));
  }
  auto const figures = [](std::vector<double> const& values) {
    return json{{"median", quantile(values, 0.5)}, {"p90", quantile(values, 0.9)}, {"most", quantile(values, 1)}};
  };
  auto const within = [](std::vector<double> const& values) {
    auto const count = std::ranges::count_if(values, [](double x) { return x <= 0.05; });
    return values.empty() ? 0.0 : double(count) / double(values.size());
  };
  json summary = {{"cases", behind.size()},
                  {"chosen_behind_best", figures(behind)},
                  {"chosen_behind_least_time", figures(behind_least)},
                  {"chosen_within_5_percent", within(behind)},
                  {"chosen_within_5_percent_of_least_time", within(behind_least)},
                  {"cheapest_predicted_behind_best", figures(by_model)},
                  {"prediction_error_of_chosen", figures(off)},
                  {"prediction_error_of_all", figures(off_all)}};
  if (off_at_speed.size() == behind.size()) summary["prediction_error_at_speed"] = figures(off_at_speed);
  return summary;
}

}  // namespace heptad::bench
