// SPDX-License-Identifier: BSD-3-Clause
#include "tools/bench/measure.hpp"

#include <catch2/catch.hpp>

#include "src/api/median.hpp"

using namespace heptad::bench;
using heptad::median;

namespace {

measured result(std::string library, std::vector<double> seconds, bool right = true) {
  measured one;
  one.library = std::move(library);
  one.seconds = std::move(seconds);
  one.check = {.max_error = right ? 1e-15 : 1, .allowed_error = 1e-12, .residual = 0, .allowed_residual = 0};
  return one;
}

}  // namespace

TEST_CASE("the median of an even count lies between the middle two") {
  CHECK(median(std::vector{3.0, 1.0, 2.0}) == 2);
  CHECK(median(std::vector{4.0, 1.0, 2.0, 3.0}) == 2.5);
  CHECK_THROWS(median(std::vector<double>{}));
}

TEST_CASE("the ratio is the fastest peer's median over Heptad's") {
  std::vector<measured> const results{result("heptad", {2, 2, 9}), result("slow", {8, 8, 8}),
                                      result("fast", {3, 1, 4})};
  CHECK(best_peer(results)->library == "fast");
  CHECK(ratio(results) == 1.5);
}

TEST_CASE("a wrong, failed or missing result takes no part in the ratio") {
  std::vector<measured> results{result("heptad", {2}), result("wrong", {1}, false), result("right", {3})};
  CHECK(best_peer(results)->library == "right");
  results[2].failure = "died";
  CHECK(best_peer(results) == nullptr);
  CHECK_FALSE(ratio(results));
  results = {result("heptad", {2}, false), result("right", {3})};
  CHECK_FALSE(ratio(results));
}
