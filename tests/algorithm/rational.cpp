// SPDX-License-Identifier: BSD-3-Clause
#include "src/algorithm/rational.hpp"

#include <catch2/catch.hpp>
#include <heptad/heptad.hpp>
#include <limits>

using heptad::parse_rational;
using heptad::rational;

constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();

TEST_CASE("rationals are kept in lowest terms with a positive denominator") {
  CHECK(rational(6, -4) == rational(-3, 2));
  CHECK(rational(6, -4).den() == 2);
  CHECK(rational(0, -7).den() == 1);
  CHECK(rational(-3, -6) == rational(1, 2));
  CHECK(rational(-3, 8).value() == -0.375);
}

TEST_CASE("rational arithmetic is exact") {
  CHECK(rational(1, 6) + rational(1, 3) == rational(1, 2));
  CHECK(rational(1, 6) - rational(1, 6) == rational(0));
  CHECK(rational(2, 3) * rational(-9, 4) == rational(-3, 2));
  CHECK(-rational(1, 8) == rational(-1, 8));
  CHECK(rational(largest, 2) * rational(2, largest) == rational(1));
}

TEST_CASE("an overflow of a rational is an error, not a wrap") {
  CHECK_THROWS_AS(rational(largest) + rational(1), heptad::error);
  CHECK_THROWS_AS(rational(-largest) - rational(2), heptad::error);
  CHECK_THROWS_AS(rational(largest) * rational(2), heptad::error);
  CHECK_THROWS_AS(rational(1, largest) + rational(1, largest - 1), heptad::error);
  CHECK_THROWS_AS(-rational(std::numeric_limits<std::int64_t>::min()), heptad::error);
  CHECK_THROWS_AS(rational(1, std::numeric_limits<std::int64_t>::min()), heptad::error);
  CHECK_THROWS_WITH(rational(3, 0), Catch::Contains("3/0"));
}

TEST_CASE("rationals are read and written as integers and fractions") {
  for (char const* text : {"3", "-1", "1/8", "-17/4", "0", "9223372036854775807"})
    CHECK(to_string(parse_rational(text)) == text);
  CHECK(parse_rational("6/4") == rational(3, 2));
}

TEST_CASE("a text that is no rational is named") {
  for (char const* text : {"", "-", "x", "1/", "/2", "1/-2", "1/0", "1.5", "+1", "1/2/3", "1 ", "0x1", "--1"}) {
    INFO(text);
    CHECK_THROWS_AS(parse_rational(text), heptad::error);
  }
  CHECK_THROWS_WITH(parse_rational("1.5"), Catch::Contains("'1.5'"));
  CHECK_THROWS_WITH(parse_rational("9223372036854775808"), Catch::Contains("too large"));
  CHECK_THROWS_WITH(parse_rational("-9223372036854775808"), Catch::Contains("too large"));
}
