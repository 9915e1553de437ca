// SPDX-License-Identifier: BSD-3-Clause
// Where the spaces of a graph or a sequence lie in memory, and where blocks of operands end that are filled up with
// zeros: the zeros are nowhere stored, so a step on such blocks is done in parts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>

#include <heptad/heptad.hpp>

#include "tasks/steps.hpp"

namespace heptad {

inline constexpr std::int64_t unbounded = std::numeric_limits<std::int64_t>::max() / 2;

/// Where a space begins and how it is strided. Operands A and B are here too, and never written. Blocks may reach
/// beyond `rows` and `cols` of A, B and C: what is read there is zero, and what is written is dropped.
template <typename T>
struct bound_space {
  T* data;
  std::int64_t rs, cs;
  std::int64_t rows = unbounded, cols = unbounded;

  [[nodiscard]] T* at(block const& b) const noexcept { return data + b.row * rs + b.col * cs; }
  /// Of the rows, or columns, of a block, those that are there.
  [[nodiscard]] std::int64_t rows_of(block const& b) const noexcept {
    return std::clamp<std::int64_t>(rows - b.row, 0, b.rows);
  }
  [[nodiscard]] std::int64_t cols_of(block const& b) const noexcept {
    return std::clamp<std::int64_t>(cols - b.col, 0, b.cols);
  }
  [[nodiscard]] bool has(block const& b) const noexcept { return rows_of(b) > 0 && cols_of(b) > 0; }
};

inline block within(block const& b, block const& part) noexcept {
  return b.sub(part.row, part.col, part.rows, part.cols);
}

template <typename T>
bound_space<T> const& space_of(std::span<bound_space<T> const> spaces, block const& b) noexcept {
  return spaces[static_cast<std::size_t>(b.space)];
}

template <typename T>
bool ends_early(std::span<bound_space<T> const> spaces, block const& b) noexcept {
  return space_of(spaces, b).rows_of(b) < b.rows || space_of(spaces, b).cols_of(b) < b.cols;
}

template <typename T>
bound_space<T> bind(matrix_view<T const> const& X) noexcept {
  return {const_cast<T*>(X.data), X.row_stride, X.col_stride, X.rows, X.cols};
}
template <typename T>
bound_space<T> bind(buffer const& b, T* base) noexcept {
  bool const rows_contiguous = b.order == orientation::row_major;
  T* const first = base == nullptr ? nullptr : base + b.offset;
  return {first, rows_contiguous ? b.ld : 1, rows_contiguous ? 1 : b.ld};
}
template <typename T>
bound_space<T> bind(block const& b, std::span<bound_space<T> const> spaces) noexcept {
  bound_space<T> const& whole = space_of(spaces, b);
  return {whole.at(b), whole.rs, whole.cs, whole.rows - b.row, whole.cols - b.col};
}

/// Blocks of one shape that may end early are cut into parts in each of which a block is there, or is not.
/// ends(meet): meet(rows, cols) of each, those that are there. visit(part), in the coordinates of the blocks.
template <typename Ends, typename Visit>
void each_part(std::int64_t rows, std::int64_t cols, Ends const& ends, Visit const& visit) {
  block part;
  for (part.row = 0; part.row < rows; part.row += part.rows) {
    part.rows = rows - part.row;
    ends([&](std::int64_t end, std::int64_t) {
      if (end > part.row) part.rows = std::min(part.rows, end - part.row);
    });
    for (part.col = 0; part.col < cols; part.col += part.cols) {
      part.cols = cols - part.col;
      ends([&](std::int64_t, std::int64_t end) {
        if (end > part.col) part.cols = std::min(part.cols, end - part.col);
      });
      visit(part);
    }
  }
}

/// Of the destinations of a product.
template <typename T, typename Visit>
void each_part(product_step const& s, std::span<bound_space<T> const> spaces, Visit const& visit) {
  block const& c = s.c.front().where;
  auto const ends = [&](auto const& meet) {
    for (source const& x : s.a) meet(space_of(spaces, x.where).rows_of(x.where), c.cols);
    for (source const& x : s.b) meet(c.rows, space_of(spaces, x.where).cols_of(x.where));
    for (target const& t : s.c)
      meet(space_of(spaces, t.where).rows_of(t.where), space_of(spaces, t.where).cols_of(t.where));
  };
  each_part(c.rows, c.cols, ends, visit);
}

/// k-steps of such a part: beyond them all blocks of A, or all of B, have ended.
template <typename T>
std::int64_t depth_of(product_step const& s, block const& part, std::span<bound_space<T> const> spaces) {
  std::int64_t of_a = 0, of_b = 0;
  for (source const& x : s.a)
    if (space_of(spaces, x.where).rows_of(x.where) > part.row)
      of_a = std::max(of_a, space_of(spaces, x.where).cols_of(x.where));
  for (source const& x : s.b)
    if (space_of(spaces, x.where).cols_of(x.where) > part.col)
      of_b = std::max(of_b, space_of(spaces, x.where).rows_of(x.where));
  return std::min(of_a, of_b);
}

}  // namespace heptad
