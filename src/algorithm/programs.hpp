// SPDX-License-Identifier: BSD-3-Clause
// The three additions programs of an algorithm, formed alike.
#pragma once

#include <vector>

#include "src/algorithm/algorithm.hpp"

namespace heptad {

/// `form(matrix, rows, cols)` gives a program with an output for every column: for U and V the products, for W turned
/// the blocks of C.
template <typename Form>
void set_programs(algorithm& x, Form form) {
  x.sums_A = form(x.U.entries, x.U.rows, x.U.cols);
  x.sums_B = form(x.V.entries, x.V.rows, x.V.cols);
  std::vector<rational> columns_of_W;
  columns_of_W.reserve(x.W.entries.size());
  for (int r = 0; r < x.W.cols; ++r)
    for (int p = 0; p < x.W.rows; ++p) columns_of_W.push_back(x.W(p, r));
  x.sums_C = form(columns_of_W, x.W.cols, x.W.rows);
}

}  // namespace heptad
