// SPDX-License-Identifier: BSD-3-Clause
#include "src/api/undisturbed.hpp"

#include <catch2/catch.hpp>

using heptad::undisturbed;

TEST_CASE("of times on a shared machine the lower quartile counts") {
  CHECK(undisturbed({7}) == 7);
  CHECK(undisturbed({9, 1, 5, 7}) == 1);
  CHECK(undisturbed({5, 3, 4, 1, 2}) == 2);
  CHECK(undisturbed({1, 2, 3, 4, 5, 6, 7, 8, 9}) == 3);
  CHECK_THROWS_AS(undisturbed({}), std::invalid_argument);
}

TEST_CASE("what is slowed down three times out of four is told as if it never were") {
  std::vector<double> seconds;
  for (int i = 0; i < 400; ++i) seconds.push_back((1 + 0.001 * (i % 10)) * (i % 4 == 0 ? 1 : 1.5 + 0.1 * (i % 7)));
  CHECK(undisturbed(seconds) == Approx(1).epsilon(0.01));
}
