// SPDX-License-Identifier: BSD-3-Clause
// Every product is planned and run with a column-major C: a row-major C is the column-major Cᵀ = Bᵀ Aᵀ.
#pragma once

#include <algorithm>
#include <cstdint>

#include <heptad/heptad.hpp>

#include "src/api/arguments.hpp"
#include "src/matrix/orientation.hpp"

namespace heptad {

template <typename T>
constexpr element_type type_of = sizeof(T) == sizeof(double) ? element_type::f64 : element_type::f32;

/// The same matrix. A stride along an extent of 1 means nothing, and may be too large to be multiplied by anything; a 1
/// stays, as orientation_of asks for it.
template <typename T>
matrix_view<T> with_small_strides(matrix_view<T> X) {
  if (X.rows == 1 && X.row_stride != 1) X.row_stride = std::max<std::int64_t>(2, X.cols);
  if (X.cols == 1 && X.col_stride != 1) X.col_stride = std::max<std::int64_t>(2, X.rows);
  return X;
}

/// The same product with a column-major C.
template <typename T>
operands<T> present(operands<T> const& x) {
  auto const A = with_small_strides(x.A), B = with_small_strides(x.B);
  auto const C = with_small_strides(x.C);
  if (orientation_of(C) == orientation::column_major) return {x.alpha, A, B, x.beta, C};
  return {x.alpha, B.transposed(), A.transposed(), x.beta, C.transposed(), true};
}

inline problem present(problem const& shape) {
  if (!shape.c_row_major) return shape;
  return {shape.n, shape.m, shape.k, !shape.b_row_major, !shape.a_row_major, false, shape.beta_zero};
}

template <typename T>
problem shape_of(operands<T> const& x) {
  auto const row_major = [](auto const& X) { return orientation_of(X) == orientation::row_major; };
  return {x.C.rows, x.C.cols, x.A.cols, row_major(x.A), row_major(x.B), row_major(x.C), x.beta == T(0)};
}

}  // namespace heptad
