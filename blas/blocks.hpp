// SPDX-License-Identifier: BSD-3-Clause
// Views of the caller's matrices, and back: how the backend is told about a view. Each view is column-major or, when
// transposed, row-major, so a routine that is written once for views serves every side, triangle, transpose and layout.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include <heptad/heptad.hpp>

namespace heptad::blas {

using size = std::int64_t;

/// As stored, or as its transpose is stored; the leading dimension of the storage.
struct storage {
  bool transposed;
  size ld;
};

template <typename T>
storage storage_of(matrix_view<T> const& X) noexcept {
  if (X.row_stride == 1 && (X.cols <= 1 || X.col_stride >= X.rows)) {
    return {false, std::max({X.col_stride, X.rows, size{1}})};
  }
  return {true, std::max({X.row_stride, X.cols, size{1}})};
}

constexpr char transpose_flag(bool transposed) noexcept { return transposed ? 'T' : 'N'; }
constexpr char triangle_flag(bool upper) noexcept { return upper ? 'U' : 'L'; }

/// op(X) of a column-major matrix whose op is rows × cols.
template <typename T>
matrix_view<T> operand(T* data, size ld, bool transposed, size rows, size cols) noexcept {
  return transposed ? column_major(data, cols, rows, ld).transposed() : column_major(data, rows, cols, ld);
}

/// Consecutive indices.
struct range {
  size begin, count;
};

/// Where a recursion cuts 0 ≤ i < count: near the middle, at a multiple that suits the levels of a product.
inline size cut(size count) noexcept {
  size const grain = count >= 1024 ? 128 : count >= 64 ? 16 : 1;
  return (count / 2 + grain - 1) / grain * grain;
}

/// The two halves in the order in which a lower (upper) triangular system is solved.
inline std::pair<range, range> halves(size count, bool upper) noexcept {
  range const top{0, cut(count)}, bottom{top.count, count - top.count};
  return upper ? std::pair{bottom, top} : std::pair{top, bottom};
}

template <typename T>
T& at(matrix_view<T> const& X, size i, size j) noexcept {
  return X.data[i * X.row_stride + j * X.col_stride];
}
template <typename T>
matrix_view<T> block(matrix_view<T> const& X, range rows, range cols) noexcept {
  return X.block(rows.begin, cols.begin, rows.count, cols.count);
}
template <typename T>
matrix_view<T> rows_of(matrix_view<T> const& X, range rows) noexcept {
  return block(X, rows, {0, X.cols});
}

/// What a plan needs to know of C := A B + beta C.
template <typename X, typename Y, typename Z>
problem product_shape(matrix_view<X> const& A, matrix_view<Y> const& B, bool beta_zero,
                      matrix_view<Z> const& C) noexcept {
  return {C.rows,   C.cols, A.cols, storage_of(A).transposed, storage_of(B).transposed, storage_of(C).transposed,
          beta_zero};
}

}  // namespace heptad::blas
