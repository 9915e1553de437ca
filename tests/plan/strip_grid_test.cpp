// SPDX-License-Identifier: BSD-3-Clause
// How C is cut for workers that share no packed block.
#include <catch2/catch.hpp>

#include "src/plan/strip_grid.hpp"

using namespace heptad;

namespace {

std::pair<std::int64_t, std::int64_t> cut(std::int64_t m, std::int64_t n, std::int64_t pieces, std::int64_t k = 1000) {
  strip_grid const g = cut_into_grid(m, n, k, pieces);
  return {g.rows, g.cols};
}

using grid = std::pair<std::int64_t, std::int64_t>;

}  // namespace

TEST_CASE("a grid has as many pieces as it was asked for") {
  for (std::int64_t pieces = 1; pieces <= 64; ++pieces)
    for (auto const& [m, n] : {std::pair{1000, 1000}, {16, 4096}, {4096, 16}, {3000, 1000}}) {
      strip_grid const g = cut_into_grid(m, n, 1000, pieces);
      CHECK(g.rows * g.cols == pieces);
    }
}

TEST_CASE("the longer side of C is cut, both sides when there are pieces for both") {
  CHECK(cut(4096, 16, 2) == grid{2, 1});
  CHECK(cut(16, 4096, 2) == grid{1, 2});
  CHECK(cut(8000, 500, 8) == grid{8, 1});
  CHECK(cut(8000, 8000, 8) == grid{2, 4});
  CHECK(cut(8000, 8000, 64) == grid{4, 16});
  CHECK(cut(8000, 1000, 16) == grid{8, 2});
  CHECK(cut(8000, 2000, 16) == grid{4, 4});
}

TEST_CASE("where both are almost as good, whole columns of C") {
  CHECK(cut(512, 512, 2) == grid{1, 2});
  CHECK(cut(4096, 4096, 2) == grid{1, 2});
  CHECK(cut(2000, 1000, 2) == grid{1, 2});
  CHECK(cut(2500, 1000, 2) == grid{2, 1});
  CHECK(cut(1000, 1000, 4) == grid{1, 4});
  CHECK(cut(8000, 8000, 4) == grid{1, 4});
  CHECK(cut(2000, 500, 8) == grid{4, 2});
  CHECK(cut(255, 256, 2) == grid{1, 2});
  CHECK(cut(256, 256, 2) == grid{1, 2});
}

TEST_CASE("of few k-steps columns stay whole in narrower products") {
  CHECK(cut(3000, 700, 2) == grid{2, 1});
  CHECK(cut(3000, 700, 2, 24) == grid{1, 2});
  CHECK(cut(8000, 700, 2, 24) == grid{2, 1});
}
