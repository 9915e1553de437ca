// SPDX-License-Identifier: BSD-3-Clause
// The overlap test against the sets of addresses themselves.
#include <catch2/catch.hpp>
#include <limits>
#include <random>
#include <set>
#include <vector>

#include "src/api/arguments.hpp"

namespace {

using view = heptad::matrix_view<double const>;

std::set<double const*> addresses(view const& X) {
  std::set<double const*> all;
  for (std::int64_t i = 0; i < X.rows; ++i) {
    for (std::int64_t j = 0; j < X.cols; ++j) all.insert(X.data + i * X.row_stride + j * X.col_stride);
  }
  return all;
}

bool share(view const& X, view const& Y) {
  auto const of_x = addresses(X);
  for (auto const* p : addresses(Y)) {
    if (of_x.contains(p)) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("overlap of blocks of one matrix is exact, in either order") {
  std::vector<double> const memory(400);
  view const whole = heptad::column_major(memory.data(), 20, 20, 20);
  std::mt19937 random(5);
  std::uniform_int_distribution<std::int64_t> at(0, 19);
  for (int trial = 0; trial < 3000; ++trial) {
    auto const block = [&] {
      std::int64_t const row = at(random), col = at(random);
      view const X = whole.block(row, col, at(random) % (20 - row) + 1, at(random) % (20 - col) + 1);
      return trial % 2 == 0 ? X : X.transposed();
    };
    view const X = block(), Y = block().transposed();
    CHECK(heptad::overlap(X, Y) == share(X, Y));
  }
}

TEST_CASE("overlap is never missed for views of any strides") {
  std::vector<double> const memory(2000);
  std::mt19937 random(6);
  std::uniform_int_distribution<std::int64_t> extent(1, 5), stride(-12, 12), start(900, 1000);
  int apart = 0;
  for (int trial = 0; trial < 5000; ++trial) {
    auto const any = [&] {
      return view{memory.data() + start(random), extent(random), extent(random), stride(random), stride(random)};
    };
    view const X = any(), Y = any();
    if (share(X, Y)) CHECK(heptad::overlap(X, Y));
    else apart += !heptad::overlap(X, Y);
  }
  CHECK(apart > 1000);
}

TEST_CASE("a stride along an extent of 1 means nothing, whatever its value") {
  std::vector<double> const memory(400);
  view const whole = heptad::column_major(memory.data(), 20, 20, 20);
  std::mt19937 random(7);
  std::uniform_int_distribution<std::int64_t> at(0, 19);
  std::int64_t const strides[] = {std::numeric_limits<std::int64_t>::min(), -1, 0, std::int64_t{1} << 61,
                                  std::numeric_limits<std::int64_t>::max()};
  for (int trial = 0; trial < 2000; ++trial) {
    view X = whole.block(at(random), at(random), 1, 1), Y = whole.block(at(random), at(random), 1, 1);
    if (trial % 2 == 0) X.rows = 20 - (X.data - memory.data()) % 20;
    if (trial % 3 == 0) Y.cols = 20 - (Y.data - memory.data()) / 20;
    bool const both = share(X, Y);
    for (view* V : {&X, &Y}) {
      if (V->rows == 1) V->row_stride = strides[at(random) % 5];
      if (V->cols == 1) V->col_stride = strides[at(random) % 5];
    }
    CHECK(heptad::overlap(X, Y) == both);
  }
}

TEST_CASE("the real and the imaginary parts of one complex matrix do not overlap") {
  std::vector<double> const memory(200);
  view const real{memory.data(), 10, 10, 2, 20}, imaginary{memory.data() + 1, 10, 10, 2, 20};
  CHECK_FALSE(heptad::overlap(real, imaginary));
  CHECK(heptad::overlap(real, real.block(9, 9, 1, 1)));
}
