// SPDX-License-Identifier: BSD-3-Clause
// Plans for devices of a task runtime, as data. What their graphs compute: tests/tasks.
#include <catch2/catch.hpp>
#include <cstdint>

#include "src/algorithm/algorithm.hpp"
#include "src/plan/device_blocks.hpp"

using namespace heptad;

namespace {

problem shape_of(std::int64_t m, std::int64_t n, std::int64_t k) {
  problem p;
  p.m = m, p.n = n, p.k = k;
  return p;
}

}  // namespace

TEST_CASE("small, deterministic and prescribed products keep the plan of the CPU") {
  auto const large = shape_of(9000, 9000, 9000);
  options wishes;
  CHECK(plan_for_devices(element_type::f64, large, 1, wishes));
  CHECK_FALSE(plan_for_devices(element_type::f64, large, 0, wishes));
  CHECK_FALSE(plan_for_devices(element_type::f64, shape_of(9000, 9000, 2047), 1, wishes));
  wishes.deterministic = true;
  CHECK_FALSE(plan_for_devices(element_type::f64, large, 1, wishes));
  wishes.deterministic = false, wishes.force_levels = 1;
  CHECK_FALSE(plan_for_devices(element_type::f64, large, 1, wishes));
  wishes.force_levels = -1, wishes.algorithm = "strassen";
  CHECK_FALSE(plan_for_devices(element_type::f64, large, 1, wishes));
}

TEST_CASE("every device has two products, one device all of a product that fits a block") {
  options const wishes;
  CHECK(plan_for_devices(element_type::f64, shape_of(16384, 16384, 16384), 1, wishes)->how.levels.empty());
  for (int const devices : {1, 2, 3, 4, 8}) {
    auto const x = plan_for_devices(element_type::f64, shape_of(40000, 16390, 50000), devices, wishes);
    REQUIRE(x);
    REQUIRE(x->how.levels.size() == 1);
    algorithm const& blocks = *x->how.levels.front().coefficients;
    CHECK(blocks.rank() == blocks.m * blocks.k * blocks.n);
    CHECK(blocks.rank() >= 2 * devices);
    CHECK(x->how.core_m / blocks.m <= 16384);
  }
}

TEST_CASE("what a plan for devices says of accuracy holds for the levels inside its products") {
  auto const shape = shape_of(32768, 32768, 32768);
  options wishes;
  auto const fast = plan_for_devices(element_type::f64, shape, 1, wishes);
  REQUIRE(fast);
  CHECK(fast->levels > 0);
  CHECK(fast->how.growth > 2);
  CHECK(fast->how.growth <= wishes.max_error);
  wishes.max_levels = 0;
  auto const classical = plan_for_devices(element_type::f64, shape, 1, wishes);
  REQUIRE(classical);
  CHECK(classical->levels == 0);
  CHECK(classical->how.bound < fast->how.bound);
  wishes.max_levels = -1, wishes.max_error = 1;
  CHECK(plan_for_devices(element_type::f64, shape, 1, wishes)->levels == 0);
}
