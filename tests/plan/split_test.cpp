// SPDX-License-Identifier: BSD-3-Clause
// How one product is shared: its parts cover C once, end together as far as the rates are known, and nobody gets a part
// that does not pay.
#include "src/plan/split.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>
#include <numeric>
#include <random>

#include <heptad/heptad.hpp>

using namespace heptad;
using Catch::Contains;

namespace {

constexpr double never = std::numeric_limits<double>::infinity();

participant at_rate(double elements_per_second, double fixed_seconds = 0) {
  return {[=](std::int64_t rows, std::int64_t cols) {
            return fixed_seconds + double(rows) * double(cols) / elements_per_second;
          },
          {}};
}

/// How often each element of C is covered.
std::vector<int> covered(split const& s, std::int64_t rows, std::int64_t cols) {
  std::vector<int> count(static_cast<std::size_t>(rows * cols));
  for (split_part const& p : s.parts) {
    REQUIRE((p.row >= 0 && p.col >= 0 && p.rows > 0 && p.cols > 0));
    REQUIRE((p.row + p.rows <= rows && p.col + p.cols <= cols));
    for (std::int64_t i = 0; i < p.rows; ++i)
      for (std::int64_t j = 0; j < p.cols; ++j) ++count[static_cast<std::size_t>((p.row + i) * cols + p.col + j)];
  }
  return count;
}

double elements_of(split const& s, std::size_t who) {
  double sum = 0;
  for (split_part const& p : s.parts)
    if (p.who == who) sum += double(p.rows) * double(p.cols);
  return sum;
}

}  // namespace

TEST_CASE("the parts cover C exactly once, whoever takes part") {
  std::mt19937 random(7);
  auto const upto = [&](int most) { return std::uniform_int_distribution<int>(1, most)(random); };
  for (int trial = 0; trial < 300; ++trial) {
    std::int64_t const rows = upto(trial % 2 == 0 ? 700 : 90), cols = upto(trial % 3 == 0 ? 500 : 60);
    std::vector<participant> all;
    for (int who = upto(9); who > 0; --who) all.push_back(at_rate(upto(1000), upto(3) == 1 ? 0.01 * upto(50) : 0));
    if (upto(4) == 1) all.front().share = 0.01 * upto(100);
    INFO(rows << " x " << cols << " by " << all.size());
    split const s = split_product(rows, cols, all);
    auto const count = covered(s, rows, cols);
    REQUIRE(std::ranges::all_of(count, [](int c) { return c == 1; }));
    std::vector<std::size_t> doers;
    double longest = 0;
    for (split_part const& p : s.parts) {
      doers.push_back(p.who);
      longest = std::max(longest, p.seconds);
      CHECK(p.seconds == Approx(all[p.who].seconds(p.rows, p.cols)));
    }
    std::ranges::sort(doers);
    CHECK(std::ranges::adjacent_find(doers) == doers.end());
    CHECK(s.seconds == longest);
  }
}

TEST_CASE("all end together, in proportion to their rates") {
  std::vector<participant> const all{at_rate(1.5e8), at_rate(2e8), at_rate(2.5e8), at_rate(4e8)};
  split const s = split_product(16384, 16384, all);
  double const ideal = 16384.0 * 16384.0 / 1e9;
  CHECK(s.seconds < 1.06 * ideal);
  CHECK(s.seconds > 0.999 * ideal);
  for (split_part const& p : s.parts) CHECK(p.seconds > 0.9 * ideal);
  CHECK(s.parts.size() == 4);
}

TEST_CASE("costs that do not grow with the part are weighed too") {
  // a + e / r equal for both: e_0 / 1e8 = 0.5 + e_1 / 1e8 with e_0 + e_1 = 2^28.
  std::vector<participant> const all{at_rate(1e8), at_rate(1e8, 0.5)};
  split const s = split_product(16384, 16384, all);
  double const total = 16384.0 * 16384.0;
  CHECK(elements_of(s, 0) / total == Approx((total + 0.5e8) / 2 / total).margin(0.01));
}

TEST_CASE("who does not make the product faster gets nothing") {
  SECTION("too slow to start") {
    split const s = split_product(4096, 4096, std::vector{at_rate(1e8), at_rate(1e9, 1.0)});
    REQUIRE(s.parts.size() == 1);
    CHECK(s.parts.front().who == 0);
  }
  SECTION("a gain below ten percent") {
    split const s = split_product(32768, 32768, std::vector{at_rate(1e9), at_rate(9e7)});
    REQUIRE(s.parts.size() == 1);
    CHECK(s.parts.front().who == 0);
  }
  SECTION("cannot") {
    std::vector<participant> all{at_rate(1e3), at_rate(1)};
    all[0].seconds = [](std::int64_t, std::int64_t) { return never; };
    split const s = split_product(100, 100, all);
    REQUIRE(s.parts.size() == 1);
    CHECK(s.parts.front().who == 1);
  }
}

TEST_CASE("a share that is given is kept, whatever the rates") {
  for (double const share : {0.0, 0.1, 0.25, 0.5, 1.0}) {
    std::vector<participant> all{at_rate(1e6), at_rate(1e9), at_rate(3e9)};
    all[0].share = share;
    split const s = split_product(6400, 6400, all);
    CHECK(elements_of(s, 0) == Approx(share * 6400 * 6400).margin(0.011 * 6400 * 6400));
    if (share > 0 && share < 1) CHECK(elements_of(s, 2) == Approx(3 * elements_of(s, 1)).epsilon(0.05));
  }
}

TEST_CASE("who is hopeless is asked once, for all of C") {
  int asked = 0;
  participant slow = at_rate(1e7);
  slow.seconds = [&, of = slow.seconds](std::int64_t rows, std::int64_t cols) {
    ++asked;
    CHECK((rows == 4096 && cols == 4096));
    return of(rows, cols);
  };
  split const s = split_product(4096, 4096, std::vector{slow, at_rate(1e9), at_rate(1e9)});
  CHECK(s.parts.size() == 2);
  CHECK(elements_of(s, 0) == 0);
  CHECK((asked > 0 && asked <= 3));
}

TEST_CASE("nobody who can compute C is refused") {
  std::vector<participant> all{at_rate(1)};
  all[0].share = 0.0;
  CHECK_THROWS_WITH(split_product(10, 10, all), Contains("nobody can compute C"));
}
