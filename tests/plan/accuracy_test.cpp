// SPDX-License-Identifier: BSD-3-Clause
// The bound against Higham's closed formulas and small cases worked by hand.
#include <catch2/catch.hpp>
#include <cmath>

#include "src/algorithm/algorithm.hpp"
#include "src/plan/accuracy.hpp"
#include "src/plan/planner.hpp"
#include "tests/plan/machines.hpp"

using namespace heptad;

namespace {

plan with_levels(std::vector<char const*> const& names, std::int64_t m, std::int64_t n, std::int64_t k) {
  plan p;
  p.shape = {m, n, k};
  for (char const* name : names) p.levels.push_back({name, level_kind::fused, find_algorithm(name)});
  complete_plan(p, test::zen4());
  return p;
}

}  // namespace

TEST_CASE("the bound of the classical product is the square of the inner dimension") {
  CHECK(with_levels({}, 5, 6, 7).bound == 49);
}

TEST_CASE("one level of Strassen on 4 by 4 has the bound worked out by hand") {
  // Products of 2×2 blocks: f = 2² = 4. C11 = P1 + P4 − P5 + P7 with α β = 4, 2, 2, 4: e = 12. Sums of operands round
  // to 2·2 + 2·2 for P1 and P7, to 2 for P4 and P5: 20. Adding 4, 4, 2, 2 in the worst order: 8 + 10 + 12 = 30.
  CHECK(with_levels({"strassen"}, 4, 4, 4).bound == 12 * 4 + (20 + 30) * 2);
}

TEST_CASE("levels of Strassen have the bound of Higham's theorem 23.2") {
  for (int levels = 1; levels <= 4; ++levels) {
    double const n = 512, n0 = n / std::pow(2, levels);
    double const higham = std::pow(12.0, levels) * (n0 * n0 + 5 * n0) - 5 * n;
    CHECK(with_levels(std::vector<char const*>(levels, "strassen"), 512, 512, 512).bound == Approx(higham));
  }
}

TEST_CASE("levels of Winograd amplify by 18 and keep to Higham's bound") {
  for (int levels = 1; levels <= 4; ++levels) {
    double const n = 512, n0 = n / std::pow(2, levels);
    double const higham = std::pow(18.0, levels) * (n0 * n0 + 6 * n0) - 6 * n;
    double const bound = with_levels(std::vector<char const*>(levels, "winograd"), 512, 512, 512).bound;
    CHECK(bound <= higham);
    CHECK(bound >= 0.95 * higham);
  }
}

TEST_CASE("only the inner dimension and its rest enter the bound") {
  double const square = with_levels({"strassen"}, 64, 64, 64).bound;
  CHECK(with_levels({"strassen"}, 640, 128, 64).bound == square);
  CHECK(with_levels({"strassen"}, 65, 67, 64).bound == square);
  CHECK(with_levels({"strassen"}, 64, 64, 65).bound == square + 65);
}

TEST_CASE("the expected growth is 2 a level for Strassen and 2.4 for Winograd") {
  CHECK(with_levels({}, 64, 64, 64).growth == 1);
  CHECK(with_levels({"strassen"}, 64, 64, 64).growth == Approx(2));
  CHECK(with_levels({"winograd", "strassen"}, 64, 64, 64).growth == Approx(4.8));
  double const rectangular = accuracy_of(*find_algorithm("huang323")).growth;
  CHECK(rectangular > 1);
  CHECK(rectangular < 10);
  CHECK(accuracy_of(*find_algorithm("classical")).growth == 1);
}
