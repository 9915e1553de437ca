// SPDX-License-Identifier: BSD-3-Clause
// How C is cut for workers that share no packed block.
#include <catch2/catch.hpp>

#include "src/plan/strip_grid.hpp"

using namespace heptad;

namespace {

std::pair<std::int64_t, std::int64_t> cut(std::int64_t m, std::int64_t n, std::int64_t pieces, std::int64_t resident) {
  strip_grid const g = cut_into_grid(m, n, pieces, resident);
  return {g.rows, g.cols};
}

using grid = std::pair<std::int64_t, std::int64_t>;

}  // namespace

TEST_CASE("a grid has as many pieces as it was asked for") {
  for (std::int64_t pieces = 1; pieces <= 64; ++pieces)
    for (auto const& [m, n] : {std::pair{1000, 1000}, {16, 4096}, {4096, 16}, {3000, 1000}}) {
      strip_grid const g = cut_into_grid(m, n, pieces, 256);
      CHECK(g.rows * g.cols == pieces);
    }
}

TEST_CASE("the longer side of C is cut, both sides when there are pieces for both") {
  CHECK(cut(4096, 16, 2, 256) == grid{2, 1});
  CHECK(cut(16, 4096, 2, 256) == grid{1, 2});
  CHECK(cut(2000, 500, 8, 256) == grid{8, 1});
  CHECK(cut(8000, 8000, 4, 256) == grid{2, 2});
  CHECK(cut(8000, 8000, 64, 256) == grid{8, 8});
  CHECK(cut(8000, 2000, 16, 256) == grid{8, 2});
}

TEST_CASE("two pieces of a square keep their rows of A in the cache where they can") {
  CHECK(cut(255, 256, 2, 256) == grid{1, 2});
  CHECK(cut(256, 256, 2, 256) == grid{2, 1});
  CHECK(cut(512, 512, 2, 256) == grid{2, 1});
  CHECK(cut(512, 512, 2, 1024) == grid{1, 2});
  CHECK(cut(4096, 4096, 2, 256) == grid{2, 1});
}

TEST_CASE("resident rows follow from the cache and the element size") {
  machine_profile machine;
  machine.l2_bytes = 2 << 20;
  CHECK(resident_rows(element_type::f64, machine) == 512);
  CHECK(resident_rows(element_type::f32, machine) == 1024);
}
