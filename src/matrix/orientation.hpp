// SPDX-License-Identifier: BSD-3-Clause
// Which dimension of a matrix is contiguous. Workspace takes the orientation of the operand it stands for, so that
// passes always run along contiguous memory.
#pragma once

#include <cstdint>

#include <heptad/heptad.hpp>

#include "src/matrix/limits.hpp"

namespace heptad {

enum class orientation { column_major, row_major };

/// Views with no contiguous dimension count as column-major: kernels then take their strided path.
template <typename T>
constexpr orientation orientation_of(matrix_view<T> const& X) noexcept {
  return X.row_stride != 1 && X.col_stride == 1 ? orientation::row_major : orientation::column_major;
}

/// A padded leading dimension (elements) for a contiguous run of `extent` elements: a multiple of a cache line
/// that is not one of same_sets.
constexpr std::int64_t padded_leading_dimension(std::int64_t extent, std::int64_t element_bytes) noexcept {
  std::int64_t const line = cache_line / element_bytes;
  std::int64_t ld = (extent + line - 1) / line * line;
  if (ld * element_bytes % same_sets == 0) ld += line;
  return ld;
}

}  // namespace heptad
