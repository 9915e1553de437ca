// SPDX-License-Identifier: BSD-3-Clause
// Shapes with two forms: sparse… with fewer additions, stable… with a smaller stability factor.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "src/algorithm/algorithm.hpp"
#include "src/plan/planner.hpp"
#include "tests/plan/machines.hpp"

using namespace heptad;

namespace {

/// Of all three rotations together.
double factors(algorithm const& x) {
  return stability_factor(x) * stability_factor(rotate(x)) * stability_factor(rotate(rotate(x)));
}

bool uses(plan const& p, std::string const& name) {
  return std::ranges::any_of(p.levels, [&](plan_level const& l) { return l.name == name; });
}

plan planned(double max_error, std::string const& algorithm) {
  problem shape{1920, 2560, 2560};
  shape.beta_zero = true;
  options wishes;
  wishes.max_error = max_error;
  wishes.algorithm = algorithm;
  return choose_plan(element_type::f64, shape, 1, std::size_t{16} << 30, test::zen4(), wishes);
}

}  // namespace

TEST_CASE("a stable form has the rank of the sparse one, smaller stability factors") {
  int pairs = 0;
  for (algorithm_header const& x : known_algorithms()) {
    if (!x.name.starts_with("stable")) continue;
    INFO(x.name);
    auto const stable = find_algorithm(x.name), sparse = find_algorithm("sparse" + x.name.substr(6));
    REQUIRE(sparse);
    CHECK(stable->rank() == sparse->rank());
    CHECK(factors(*stable) < factors(*sparse));
    ++pairs;
  }
  CHECK(pairs >= 9);
}

TEST_CASE("under a tight max_error the planner takes a stable form where the sparse one is not allowed") {
  constexpr double tight = 2.3;
  plan const p = planned(tight, "auto");
  CHECK(uses(p, "stable344"));
  CHECK(p.growth <= tight);
  CHECK_FALSE(planned(tight, "stable344").levels.empty());
  CHECK(planned(tight, "sparse344").levels.empty());
  CHECK(uses(planned(4, "sparse344"), "sparse344"));
}
