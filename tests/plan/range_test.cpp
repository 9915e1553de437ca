// SPDX-License-Identifier: BSD-3-Clause
// What a plan with levels must not meet, and that ordinary numbers are far from it.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "src/algorithm/algorithm.hpp"
#include "src/plan/planner.hpp"
#include "src/plan/range.hpp"
#include "tests/plan/machines.hpp"

using namespace heptad;
using Catch::Matchers::Contains;

namespace {

plan levels_of(char const* name, int levels, element_type type, level_kind kind) {
  plan p;
  p.type = type;
  p.shape = {1024, 1024, 1024};
  for (int l = 0; l < levels; ++l) p.levels.push_back({name, kind, find_algorithm(name)});
  complete_plan(p, test::zen4());
  return p;
}

plan two_levels(element_type type) { return levels_of("winograd", 2, type, level_kind::explicit_passes); }

}  // namespace

TEMPLATE_TEST_CASE("ordinary numbers speak against no level", "", double, float) {
  plan const p = two_levels(sizeof(TestType) == 8 ? element_type::f64 : element_type::f32);
  for (double const a : {1e-12, 1.0, 1e12})
    for (double const beta : {0.0, 1.0, -3.0}) CHECK(range_objection(p, 0.7, beta, a, 1.0).empty());
  CHECK(range_objection(p, 1, 0, 0, 1).empty());
  CHECK(range_objection(p, 1, 1, 1, 0).empty());
}

TEMPLATE_TEST_CASE("NaN, infinities and magnitudes near the ends of the range are named", "", double, float) {
  using limits = std::numeric_limits<TestType>;
  plan const p = two_levels(sizeof(TestType) == 8 ? element_type::f64 : element_type::f32);
  double const inf = HUGE_VAL, nan = std::nan(""), most = limits::max(), least = limits::denorm_min();
  CHECK_THAT(range_objection(p, 1, 0, nan, 1), Contains("A holds NaN"));
  CHECK_THAT(range_objection(p, 1, 0, 1, inf), Contains("B holds infinities"));
  CHECK_THAT(range_objection(p, inf, 0, 1, 1), Contains("alpha"));
  CHECK_THAT(range_objection(p, 1, 0, most, 0), Contains("sums of blocks of A"));
  CHECK_THAT(range_objection(p, 1, 0, 1e-20, most), Contains("sums of blocks of B"));
  CHECK_THAT(range_objection(p, 1, 0, std::sqrt(most), std::sqrt(most)), Contains("products"));
  CHECK_THAT(range_objection(p, most, 0, 1, 1), Contains("products"));
  CHECK_THAT(range_objection(p, 1, 0, least, 1), Contains("underflow"));
  CHECK_THAT(range_objection(p, 1, 0, std::sqrt(double(limits::min())) / 2, std::sqrt(double(limits::min()))),
             Contains("underflow"));
  CHECK_THAT(range_objection(p, limits::min(), 0, 1, 1), Contains("underflow"));
  // With beta = 0 this is harmless; C near the largest number could be pushed over it on the way.
  double const large = std::sqrt(most * limits::epsilon());
  CHECK(range_objection(p, 1, 0, large, 1e-3 * large).empty());
  CHECK_THAT(range_objection(p, 1, 1, large, 1e-3 * large), Contains("beta C"));
}

TEMPLATE_TEST_CASE("alpha must not leave the normal numbers with the coefficients that it meets", "", double, float) {
  using limits = std::numeric_limits<TestType>;
  element_type const type = sizeof(TestType) == 8 ? element_type::f64 : element_type::f32;
  double const most = limits::max(), least = limits::min(), tiny = limits::denorm_min(), root = std::sqrt(most) / 65536;
  plan const fused = levels_of("fewest444", 1, type, level_kind::fused);  // V has 1/8, W 1/32 and 8
  CHECK_THAT(range_objection(fused, tiny, 0, root, root), Contains("alpha times coefficients could underflow"));
  CHECK_THAT(range_objection(fused, 256 * least, 0, root, root), Contains("could underflow"));
  CHECK(range_objection(fused, 512 * least, 0, root, root).empty());
  CHECK_THAT(range_objection(fused, most, 0, 1 / root, 1 / root), Contains("alpha times coefficients could overflow"));
  CHECK_THAT(range_objection(fused, most / 8, 0, 1 / root, 1 / root), Contains("could overflow"));
  CHECK(range_objection(fused, most / 32, 0, 1 / root, 1 / root).empty());
  plan const two = levels_of("fewest444", 2, type, level_kind::fused);
  CHECK_THAT(range_objection(two, 512 * least, 0, root, root), Contains("could underflow"));
  CHECK_THAT(range_objection(two, most / 32, 0, 1 / root, 1 / root), Contains("could overflow"));
  // Passes keep what travels with alpha there to the coefficients of single blocks.
  plan const passes = levels_of("fewest444", 1, type, level_kind::explicit_passes);
  CHECK(range_objection(passes, 16 * least, 0, root, root).empty());
  CHECK(range_objection(passes, 0.9 * most, 0, 1 / root, 1 / root).empty());
  // Of ±1 nothing comes to harm.
  plan const signs = levels_of("winograd", 2, type, level_kind::fused);
  CHECK(range_objection(signs, tiny, 0, root, root).empty());
  CHECK(range_objection(signs, most, 0, 1 / root, 1 / root).empty());
}

TEMPLATE_TEST_CASE("operands are not scaled whose product could overflow on its way back", "", double, float) {
  element_type const type = sizeof(TestType) == 8 ? element_type::f64 : element_type::f32;
  double const most = std::numeric_limits<TestType>::max(), moves = most * std::numeric_limits<TestType>::epsilon();
  CHECK_THAT(scaling_objection(type, 1, 0, most, 1, 1), Contains("elements of C"));
  CHECK_THAT(scaling_objection(type, 1, 0, 1e-10, most, 1e10), Contains("elements of C"));
  CHECK_THAT(scaling_objection(type, -most, 0, 1, 1, 1), Contains("elements of C"));
  CHECK(scaling_objection(type, 1, 0, most / 4096, 1, 1024).empty());
  CHECK(scaling_objection(type, 1, 0, 1e3, most / 1e9, 1024).empty());
  CHECK_THAT(scaling_objection(type, 1, -1, moves, 1, 1024), Contains("beta C"));
  CHECK(scaling_objection(type, 1, -1, moves / 16384, 1, 1024).empty());
  CHECK(scaling_objection(type, 1, 0, 0, most, 1024).empty());
}

TEST_CASE("a classical plan takes any numbers") {
  plan p;
  p.shape = {64, 64, 64};
  complete_plan(p, test::zen4());
  CHECK(range_objection(p, std::nan(""), 1, HUGE_VAL, 1e300).empty());
}

TEST_CASE("no intermediate of a plan that is allowed can overflow") {
  // Winograd's S2 = A21 + A22 − A11 and S4 = A12 − S2 grow by 4 on two levels by 16; U2 … of the update by 18 a level.
  plan const p = two_levels(element_type::f64);
  CHECK(p.largest_A == 16);
  CHECK(p.largest_B == 16);
  CHECK(p.largest_product == 18.0 * 18.0 * 1024);
}
