// SPDX-License-Identifier: BSD-3-Clause
// The bound against closed formulas from the literature and small cases worked by hand.
#include <catch2/catch.hpp>
#include <cmath>

#include "src/algorithm/algorithm.hpp"
#include "src/plan/accuracy.hpp"
#include "src/plan/planner.hpp"
#include "tests/plan/machines.hpp"

using namespace heptad;

namespace {

plan with_levels(std::vector<char const*> const& names, std::int64_t m, std::int64_t n, std::int64_t k,
                 level_kind kind = level_kind::fused) {
  plan p;
  p.shape = {m, n, k};
  for (char const* name : names) p.levels.push_back({name, kind, find_algorithm(name)});
  complete_plan(p, test::zen4());
  return p;
}

}  // namespace

TEST_CASE("the bound of the classical product is its inner dimension times the roundings of one element") {
  // k products and sums, the coefficient, the addition to C, and one for underflow; over 1 − 10 u.
  CHECK(with_levels({}, 5, 6, 7).bound == Approx((7 + 3) * 7).epsilon(1e-14));
}

TEST_CASE("one level of Strassen on 4 by 4 has the bound worked out by hand") {
  // C11 = P1 + P4 − P5 + P7 with α β = 4, 2, 2, 4: e = 12; k0 = 2. Roundings: 2 in the product, 1 for its coefficient,
  // 1 + 1 in the sums, 4 additions to C, 1 for underflow.
  CHECK(with_levels({"strassen"}, 4, 4, 4).bound == Approx((2 + 1 + 2 + 4 + 1) * 12 * 2).epsilon(1e-14));
}

TEST_CASE("levels of Strassen have the amplification of Higham's theorem 23.2") {
  for (int levels = 1; levels <= 4; ++levels) {
    double const n = 4096, n0 = n / std::pow(2, levels);
    double const higham = std::pow(12.0, levels) * (n0 * n0 + 5 * n0) - 5 * n;
    for (auto const kind : {level_kind::explicit_passes, level_kind::task}) {
      double const bound = with_levels(std::vector<char const*>(levels, "strassen"), 4096, 4096, 4096, kind).bound;
      CHECK(bound >= higham * 0.99);
      CHECK(bound <= higham * 1.4);  // additions program by program, and those of nested products
    }
  }
}

TEST_CASE("levels of Winograd amplify by 18") {
  for (int levels = 1; levels <= 4; ++levels) {
    double const n = 4096, n0 = n / std::pow(2, levels);
    double const higham = std::pow(18.0, levels) * (n0 * n0 + 6 * n0) - 6 * n;
    for (auto const kind : {level_kind::explicit_passes, level_kind::task}) {
      double const bound = with_levels(std::vector<char const*>(levels, "winograd"), 4096, 4096, 4096, kind).bound;
      CHECK(bound >= higham * 0.98);
      CHECK(bound <= higham * 1.4);  // additions program by program, and those of nested products
    }
  }
}

TEST_CASE("a program whose parts cancel is charged for them") {
  // Strassen's sums of A with A12 + A22 formed as (A12 + A21 + A22) − A21: one way more, of the same size, each way.
  algorithm detour = *find_algorithm("strassen");
  int const r = [&] {  // a column with two terms
    for (int q = 0;; ++q) {
      int terms = 0;
      for (int i = 0; i < 4; ++i) terms += detour.U(i, q).is_zero() ? 0 : 1;
      if (terms == 2) return q;
    }
  }();
  int unused = 0;
  while (!detour.U(unused, r).is_zero()) ++unused;
  linear_term const direct = detour.sums_A.outputs[r];
  int const first = detour.sums_A.inputs + static_cast<int>(detour.sums_A.steps.size());
  detour.sums_A.steps.push_back({direct, {unused, 1}});
  detour.sums_A.steps.push_back({{first, 1}, {unused, -1}});
  detour.sums_A.outputs[r] = {first + 1, 1};
  verify(detour);
  auto const& plain = *find_algorithm("strassen");
  for (auto const kind : {level_kind::explicit_passes, level_kind::task}) {
    level_accuracy const with = accuracy_of(detour, kind), without = accuracy_of(plain, kind);
    CHECK(with.sums == without.sums + 2);
    CHECK(with.amplification > without.amplification);
    CHECK(with.largest_A == 4);
    CHECK(without.largest_A == 2);
  }
  CHECK(accuracy_of(detour, level_kind::fused).amplification == 12);  // fused levels form plain sums
}

TEST_CASE("fused levels are charged for every block that a sum or a destination has") {
  level_accuracy const x = accuracy_of(*find_algorithm("winograd"), level_kind::fused);
  level_accuracy const* const two[] = {&x, &x};
  divided_problem const problem{4096, 4096, 4096, 4096, true};
  // Sums of 16 blocks at most on each side, 16 additions to one block of C, of which the first is the leaf's own.
  double const ways = 1024 + 2 + 15 + 15 + 15 + 1;
  CHECK(error_bound(two, problem, 0x1p-53).product == Approx(ways * 18 * 18 * 1024).epsilon(1e-9));
  divided_problem straight = problem;
  straight.product_buffer = false;  // every product may add 1024 / 16 k-blocks
  double const more = 1024 + 2 + 15 + 15 + 15 * 64 + 1;
  CHECK(error_bound(two, straight, 0x1p-53).product == Approx(more * 18 * 18 * 1024).epsilon(1e-9));
}

TEST_CASE("only the inner dimension and its rest enter the bound") {
  double const square = with_levels({"strassen"}, 64, 64, 64).bound;
  CHECK(with_levels({"strassen"}, 640, 128, 64).bound == square);
  CHECK(with_levels({"strassen"}, 65, 67, 64).bound == square);
  double const rest = with_levels({"strassen"}, 64, 64, 65).bound;
  CHECK(rest > square);
  CHECK(rest < 1.05 * square);
}

TEST_CASE("so many roundings that none is sure have an infinite bound") {
  plan p = with_levels({}, 64, 64, 64);
  p.type = element_type::f32;
  p.shape.k = p.core_k = 20'000'000;
  judge_accuracy(p);
  CHECK(std::isinf(p.bound));
  p.shape.k = p.core_k = 1'000'000;
  judge_accuracy(p);
  CHECK(p.bound > 1e12);
  CHECK(p.bound < 2e12);
}

TEST_CASE("the expected growth is √12 / 2 a level for Strassen, √18 / 2 for Winograd, and 1.2 for the sums") {
  CHECK(with_levels({}, 64, 64, 64).growth == 1);
  CHECK(with_levels({"strassen"}, 64, 64, 64).growth == Approx(1.2 * std::sqrt(12.0) / 2));
  CHECK(with_levels({"winograd", "strassen"}, 64, 64, 64).growth == Approx(1.2 * std::sqrt(18.0 * 12.0) / 4));
  double const rectangular = accuracy_of(*find_algorithm("huang323"), level_kind::fused).growth;
  CHECK(rectangular > 1);
  CHECK(rectangular < 10);
  CHECK(accuracy_of(*find_algorithm("classical"), level_kind::fused).growth == 1);
}

TEST_CASE("the likely bound grows like k, with growth, and with the number of elements hardly") {
  double const classical = with_levels({}, 1024, 1024, 1024).likely_bound;
  CHECK(classical == Approx(std::sqrt(2 * std::log(2e6 * 1024 * 1024)) * std::sqrt(1024.0 * 1027 / 2)));
  CHECK(with_levels({}, 1024, 1024, 2048).likely_bound == Approx(2 * classical).epsilon(0.01));
  CHECK(with_levels({}, 2048, 2048, 1024).likely_bound == Approx(classical).epsilon(0.05));
  plan const fast = with_levels({"winograd", "strassen"}, 1024, 1024, 1024);
  CHECK(fast.likely_bound == Approx(fast.growth * classical));
  CHECK(with_levels({}, 8, 8, 1).likely_bound == with_levels({}, 8, 8, 1).bound);  // never above the proved one
}
