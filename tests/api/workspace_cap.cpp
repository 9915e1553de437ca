// SPDX-License-Identifier: BSD-3-Clause
// Plans under caps on their workspace, as their graphs take it, on a machine of two cores.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <vector>

#include <heptad/heptad.hpp>

#include "codelets/cpu/kernel_set.hpp"
#include "src/api/context.hpp"
#include "src/api/prepare.hpp"
#include "src/plan/profile.hpp"
#include "tests/environment_variable.hpp"

using namespace heptad;

namespace {

struct two_cores {
  test::profile_folder const folder;

  two_cores() {
    machine_profile machine = default_profile();
    machine.kernel = cpu::best_kernel_set<double>().name;
    machine.cores = 2;
    save_profile(machine, profile_path());
  }
};

bool is_only_packing(plan const& p) {
  return !p.product_buffer && std::ranges::count(p.levels, level_kind::fused, &plan_level::kind) ==
                                  static_cast<std::ptrdiff_t>(p.levels.size());
}

/// Whether the plan needs more than packing, which keeps to the cap.
bool keeps_to_cap(element_type type, context& workers, problem const& shape, options const& wishes) {
  plan const p =
      type == element_type::f64 ? make_plan<double>(workers, shape, wishes) : make_plan<float>(workers, shape, wishes);
  CAPTURE(workers.threads(), shape.m, shape.n, shape.k, shape.a_row_major, shape.b_row_major, shape.beta_zero,
          wishes.max_levels, *wishes.max_workspace, wishes.deterministic, type == element_type::f64);
  CHECK(p.workspace_cap == *wishes.max_workspace);
  if (is_only_packing(p)) return false;
  CHECK(p.workspace <= *wishes.max_workspace);
  return true;
}

}  // namespace

TEST_CASE("what the products of long fringes pack and gather is counted as well") {
  two_cores const machine;
  context one(1);
  options wishes;
  for (problem const& shape : {problem{753, 6974, 753, true, true, false, true}, {7195, 7195, 355, true}})
    for (double cap = 3e5; cap < 3e6; cap *= 1.02)
      for (auto const type : {element_type::f32, element_type::f64}) {
        wishes.max_workspace = static_cast<std::size_t>(cap);
        keeps_to_cap(type, one, shape, wishes);
      }
}

TEST_CASE("what needs more than packing keeps to its cap, whatever the sides, layouts and workers") {
  two_cores const machine;
  context one(1), two(2), eight(8);
  context* const contexts[] = {&one, &two, &eight};
  std::mt19937 random(5);
  auto const below = [&](int n) { return std::uniform_int_distribution<int>(0, n - 1)(random); };
  int count = 0;
  for (int i = 0; i < 600; ++i) {
    int const side = 300 + below(5000);
    auto const near = [&] { return below(3) != 0 ? side : 300 + below(5000); };
    problem shape{near(), near(), near()};
    shape.a_row_major = below(2) == 0;
    shape.b_row_major = below(2) == 0;
    shape.beta_zero = below(2) == 0;
    auto const operands = static_cast<double>(shape.m * shape.k + shape.k * shape.n + shape.m * shape.n);
    options wishes;
    wishes.max_workspace = static_cast<std::size_t>(8 * operands * std::pow(10, -0.01 * below(300)));
    wishes.max_levels = below(4) - 1;
    wishes.deterministic = below(2) == 0;
    count += keeps_to_cap(below(2) == 0 ? element_type::f64 : element_type::f32, *contexts[below(3)], shape, wishes);
  }
  CHECK(count > 100);
}

TEST_CASE("plans that are to take turns keep to the cap as well") {
  two_cores const machine;
  context workers(8);
  context::impl& state = workers.state();
  int count = 0;
  for (std::int64_t const side : {1503, 1504, 2400, 2600, 3001, 3200})
    for (double fraction = 4; fraction > 0.02; fraction *= 0.8) {
      options wishes;
      wishes.max_workspace = static_cast<std::size_t>(8 * static_cast<double>(side * side) * fraction);
      CAPTURE(side, fraction);
      auto const plans = alternatives(state, {element_type::f64, {side, side, side}, 8, wishes}, 2, 1);
      CHECK_FALSE(plans.empty());
      for (plan const& p : plans) {
        if (is_only_packing(p)) continue;
        CHECK(get_workspace(state, p, 8, wishes).prepared->bytes() <= *wishes.max_workspace);
        ++count;
      }
    }
  CHECK(count > 50);
}

TEST_CASE("a deterministic plan is the same for any number of workers whatever its cap") {
  two_cores const machine;
  context one(1), two(2), eight(8);
  options wishes;
  wishes.deterministic = true;
  for (std::int64_t const side : {1000, 1503, 3001})
    for (double fraction = 4; fraction > 0.02; fraction *= 0.8) {
      wishes.max_workspace = static_cast<std::size_t>(8 * static_cast<double>(side * side) * fraction);
      problem const shape{side, side, side};
      CAPTURE(side, fraction);
      plan const p = make_plan<double>(two, shape, wishes);
      CHECK(same_choices(p, make_plan<double>(one, shape, wishes)));
      CHECK(same_choices(p, make_plan<double>(eight, shape, wishes)));
    }
}

TEST_CASE("deterministic products have the same bits for any number of workers whatever the cap, scaled or not") {
  two_cores const machine;
  context one(1), two(2), five(5);
  constexpr std::int64_t n = 256;
  std::mt19937 random(7);
  std::uniform_real_distribution<double> entry(-1, 1);
  std::vector<double> A(n * n), B(n * n);
  for (std::size_t i = 0; i < A.size(); ++i) A[i] = std::ldexp(entry(random), static_cast<int>(i % n % 40));  // rows
  for (double& x : B) x = entry(random);
  auto const multiply = [&](context& workers, options const& wishes, std::vector<double>& C) {
    C.assign(n * n, 0.0);
    return gemm<double>(workers, 1, column_major<double const>(A.data(), n, n, n),
                        column_major<double const>(B.data(), n, n, n), 0, column_major(C.data(), n, n, n), wishes);
  };
  int scaled = 0;
  for (std::size_t cap = 0; cap < 6'000'000; cap += 75'000) {
    options wishes;
    wishes.deterministic = true;
    wishes.force_levels = 1;
    wishes.max_workspace = cap;
    std::vector<double> expected, C;
    scaled += multiply(one, wishes, expected).scaling != scaling_kind::none;
    for (context* const workers : {&two, &five}) {
      multiply(*workers, wishes, C);
      CAPTURE(cap, workers->threads());
      CHECK((C == expected));
    }
  }
  CHECK(scaled > 10);
  CHECK(scaled < 80);
}

TEST_CASE("a deterministic product does not try plans in turns") {
  two_cores const machine;
  context workers(2);
  options wishes;
  wishes.refine = true;
  wishes.force_levels = 1;
  constexpr std::int64_t n = 700;
  REQUIRE(alternatives(workers.state(), {element_type::f64, {n, n, n}, 2, wishes}, 2, 1).size() == 2);
  wishes.deterministic = true;
  std::vector<double> A(n * n), expected;
  std::mt19937 random(7);
  for (double& x : A) x = std::uniform_real_distribution<double>(-1, 1)(random);
  for (int call = 0; call < 3; ++call) {
    std::vector<double> C(n * n);
    gemm<double>(workers, 1, column_major<double const>(A.data(), n, n, n),
                 column_major<double const>(A.data(), n, n, n), 1, column_major(C.data(), n, n, n), wishes);
    if (call == 0) expected = C;
    CAPTURE(call);
    CHECK((C == expected));
  }
}
