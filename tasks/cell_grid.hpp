// SPDX-License-Identifier: BSD-3-Clause
// The grid of a graph in cells: lines in m, n and k between which every block lies that a task writes.
#pragma once

#include <cstdint>
#include <vector>

namespace heptad {

struct cell_grid {
  std::int64_t leaf_m = 1, leaf_n = 1, leaf_k = 1;  // of the products of the innermost task level
  std::vector<std::int64_t> leaf_rows, leaf_cols;   // how one of them is cut into strips: 0 … leaf_m, 0 … leaf_n
  std::vector<std::int64_t> rows, cols, depth;      // of the whole problem, the fringes with it

  [[nodiscard]] std::vector<std::int64_t> rows_within(std::int64_t extent) const {
    return repeated(leaf_rows, leaf_m, extent);
  }
  [[nodiscard]] std::vector<std::int64_t> cols_within(std::int64_t extent) const {
    return repeated(leaf_cols, leaf_n, extent);
  }
  [[nodiscard]] std::vector<std::int64_t> depth_within(std::int64_t extent) const {
    return repeated({0, leaf_k}, leaf_k, extent);
  }

  /// 0 = b0 < b1 < … = extent: the lines of every leaf, one after the other.
  static std::vector<std::int64_t> repeated(std::vector<std::int64_t> const& lines, std::int64_t leaf,
                                            std::int64_t extent) {
    std::vector<std::int64_t> all{0};
    for (std::int64_t first = 0; first < extent; first += leaf)
      for (std::size_t i = 1; i < lines.size(); ++i) all.push_back(first + lines[i]);
    return all;
  }
};

/// visit(first, size) of the pieces between lines that begin in [begin, begin + size).
template <typename Visit>
void each_piece(std::vector<std::int64_t> const& lines, std::int64_t begin, std::int64_t size, Visit visit) {
  for (std::size_t i = 0; i + 1 < lines.size(); ++i)
    if (lines[i] >= begin && lines[i] < begin + size) visit(lines[i], lines[i + 1] - lines[i]);
}

}  // namespace heptad
