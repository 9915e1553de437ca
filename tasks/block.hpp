// SPDX-License-Identifier: BSD-3-Clause
// Where data lives, as the graph sees it: rectangles of numbered spaces. No pointers: a graph can be built before,
// kept after, and run on any operands of its shape.
#pragma once

#include <algorithm>
#include <cstdint>

#include "src/matrix/orientation.hpp"

namespace heptad {

/// Spaces 0, 1, 2 are the operands; the others are the buffers of the graph (or of the sequence) in order.
enum space : int { space_A = 0, space_B = 1, space_C = 2, first_buffer = 3 };

struct block {
  int space = space_A;
  std::int64_t row = 0, col = 0, rows = 0, cols = 0;

  [[nodiscard]] constexpr block sub(std::int64_t r, std::int64_t c, std::int64_t h, std::int64_t w) const noexcept {
    return {space, row + r, col + c, h, w};
  }
  [[nodiscard]] constexpr bool overlaps(block const& o) const noexcept {
    return space == o.space && row < o.row + o.rows && o.row < row + rows && col < o.col + o.cols && o.col < col + cols;
  }
  friend constexpr bool operator==(block const&, block const&) = default;
};

/// How workspace matrices lie in memory. cpu: columns padded so that they do not fall into the same cache sets, buffers
/// apart by some cache lines. device: columns and buffers aligned to `device_alignment` bytes and nothing in between,
/// so that the buffers of one kind and shape are evenly spaced.
enum class alignment_rule { cpu, device };
inline constexpr std::int64_t device_alignment = 256;

/// A workspace matrix: `offset` elements into the arena, leading dimension padded, in the orientation of the operand
/// whose sums it holds.
struct buffer {
  std::int64_t offset = 0, rows = 0, cols = 0, ld = 0;
  orientation order = orientation::column_major;
};

}  // namespace heptad
