// SPDX-License-Identifier: BSD-3-Clause
// Dot products for any vector instruction set, given its traits (see simd_kernels.hpp): with few rows, vectors of rows
// would be mostly padding, so vectors are laid along the depth. As memory decides, each column of B is read once.
#pragma once

#include <cstdint>

#include "codelets/cpu/kernel_set.hpp"

namespace heptad::cpu {
namespace {

template <typename V>
struct simd_dots {
  using T = typename V::element;
  using vector = typename V::vector;
  static constexpr int lanes = V::lanes;
  static constexpr int most_rows = 4;
  // At once: accumulators enough to hide the latency of an addition, and as many as there are registers for beside a
  // value of each column and one of a row.
  static constexpr int columns_beside(int rows) { return (rows + 1) * 4 + 1 <= V::registers ? 4 : 3; }
  static constexpr int ahead = 1024 / sizeof(T);  // elements of each column asked for in advance

  // Rows × columns sums; `cols` of the columns are real.
  template <int Rows, int columns>
  static void block(dots_call<T> const& call, int row, std::int64_t col, int cols) {
    T const* const a = call.a + row * call.a_row;
    T const* b[columns];
    for (int j = 0; j < columns; ++j) b[j] = call.b + (col + (j < cols ? j : cols - 1)) * call.b_column;
    vector acc[Rows][columns];
#pragma GCC unroll 4
    for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 4
      for (int j = 0; j < columns; ++j) acc[i][j] = V::zero();

    std::int64_t p = 0;
    auto const steps_to = [&](std::int64_t end, std::int64_t far) __attribute__((always_inline)) {
      for (; p + lanes <= end; p += lanes) {
        vector y[columns];
#pragma GCC unroll 4
        for (int j = 0; j < columns; ++j) {
          y[j] = V::load(b[j] + p);
          __builtin_prefetch(b[j] + p + far, 0, 3);
        }
#pragma GCC unroll 4
        for (int i = 0; i < Rows; ++i) {
          vector const x = V::load(a + i * call.a_row + p);
#pragma GCC unroll 4
          for (int j = 0; j < columns; ++j) acc[i][j] = V::fma(x, y[j], acc[i][j]);
        }
      }
    };
    steps_to(call.depth - ahead, ahead);
    steps_to(call.depth, ahead - call.depth + columns * call.b_column);  // on into the columns beside
    if (p < call.depth) {
      auto const last = V::first(static_cast<int>(call.depth - p));
#pragma GCC unroll 4
      for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 4
        for (int j = 0; j < columns; ++j)
          acc[i][j] = V::fma(V::load(a + i * call.a_row + p, last), V::load(b[j] + p, last), acc[i][j]);
    }

    constexpr int number = Rows * columns, at_once = 4;
    T sums[(number + at_once - 1) / at_once * at_once];
#pragma GCC unroll 4
    for (int n = 0; n < number; n += at_once) {
      vector some[at_once];
#pragma GCC unroll 4
      for (int s = 0; s < at_once; ++s)
        some[s] = n + s < number ? acc[(n + s) / columns][(n + s) % columns] : V::zero();
      V::sums(some, sums + n);
    }
    for (int q = 0; q < call.count; ++q) {
      destination<T> const& d = call.destinations[q];
      for (int i = 0; i < Rows; ++i)
        for (int j = 0; j < cols; ++j) {
          T& to = d.data[(row + i) * call.rs + (col + j) * call.cs];
          T const x = d.coefficient * sums[i * columns + j];
          to = d.beta == T(0) ? x : x + d.beta * to;
        }
    }
  }

  template <int columns>
  static void some_rows(dots_call<T> const& call, int row, int rows, std::int64_t col, int cols) {
    if (rows == 1) block<1, columns>(call, row, col, cols);
    else if (rows == 2) block<2, columns>(call, row, col, cols);
    else if (rows == 3) block<3, columns>(call, row, col, cols);
    else block<4, columns>(call, row, col, cols);
  }
  template <int columns>
  static void dots_beside(dots_call<T> const& call, int groups) {
    for (std::int64_t j = 0; j < call.cols; j += columns) {
      int const cols = call.cols - j < columns ? static_cast<int>(call.cols - j) : columns;
      for (int g = 0, row = 0; g < groups; ++g) {
        int const rows = call.rows / groups + (g < call.rows % groups);
        some_rows<columns>(call, row, rows, j, cols);
        row += rows;
      }
    }
  }
  // Rows are taken in groups as equal as can be: 5 are 3 and 2.
  static void dots(dots_call<T> const& call) {
    int const groups = (call.rows + most_rows - 1) / most_rows;
    if (columns_beside((call.rows + groups - 1) / groups) == 4) dots_beside<4>(call, groups);
    else dots_beside<3>(call, groups);
  }
};

}  // namespace
}  // namespace heptad::cpu
