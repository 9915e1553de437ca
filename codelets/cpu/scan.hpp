// SPDX-License-Identifier: BSD-3-Clause
// scan: the largest |x| of every row and every column of a block, read once. It tells where NaN, Inf and magnitudes
// are that a fast algorithm must not meet, and by how much rows and columns differ in size.
#pragma once

#include <cstdint>

namespace heptad::cpu {

/// of_rows[i] and of_cols[j] := the larger of what they hold (≥ 0) and the largest |x| of row i, column j. Magnitudes
/// are ordered by their bit patterns: finite numbers, infinity, NaN; so a line with a NaN has NaN for its largest.
template <typename T>
void scan(T const* X, std::int64_t rows, std::int64_t cols, std::int64_t row_stride, std::int64_t col_stride,
          T* of_rows, T* of_cols);

/// The largest of all.
template <typename T>
T largest_magnitude(T const* X, std::int64_t rows, std::int64_t cols, std::int64_t row_stride, std::int64_t col_stride);

/// The larger of two magnitudes in that order.
template <typename T>
T larger_magnitude(T x, T y);

}  // namespace heptad::cpu
