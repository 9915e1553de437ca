// SPDX-License-Identifier: BSD-3-Clause
// Extents cut into pieces of nearly equal size.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdlib>

#include "tasks/cut.hpp"

using namespace heptad;

TEST_CASE("an extent is cut at the multiples of the unit that are nearest to equal pieces") {
  CHECK(cut(300, 2, 8) == std::vector<std::int64_t>{0, 152, 300});
  CHECK(cut(312, 2, 8) == std::vector<std::int64_t>{0, 160, 312});
  CHECK(cut(100, 4) == std::vector<std::int64_t>{0, 25, 50, 75, 100});
  CHECK(cut(7, 3, 8) == std::vector<std::int64_t>{0, 7});
  for (std::int64_t extent = 1; extent < 200; ++extent)
    for (std::int64_t pieces = 1; pieces < 9; ++pieces)
      for (std::int64_t const unit : {1, 3, 8}) {
        CAPTURE(extent, pieces, unit);
        auto const b = cut(extent, pieces, unit);
        auto const count = static_cast<std::int64_t>(b.size()) - 1;
        REQUIRE(count == std::clamp<std::int64_t>(extent / unit, 1, pieces));
        REQUIRE(b.back() == extent);
        for (std::int64_t i = 0; i < count; ++i) {
          REQUIRE(b[i] < b[i + 1]);
          REQUIRE(b[i] % unit == 0);
          REQUIRE(2 * std::abs(b[i] * count - extent * i) <= (unit + 1) * count);
        }
      }
}

TEST_CASE("the longest extent that fits in memory is cut into as many pieces as there may be") {
  std::int64_t const extent = std::int64_t{1} << 57, pieces = (std::int64_t{1} << 16) + 1;
  auto const b = cut(extent, pieces);
  REQUIRE(b.size() == static_cast<std::size_t>(pieces) + 1);
  CHECK(b.back() == extent);
  std::int64_t narrowest = extent, widest = 0;
  for (std::size_t i = 1; i < b.size(); ++i) {
    narrowest = std::min(narrowest, b[i] - b[i - 1]);
    widest = std::max(widest, b[i] - b[i - 1]);
  }
  CHECK(narrowest == extent / pieces);
  CHECK(widest <= narrowest + 1);
}
