// SPDX-License-Identifier: BSD-3-Clause
// Every product is planned and run with a column-major C: a row-major C is the column-major Cᵀ = Bᵀ Aᵀ.
#pragma once

#include <heptad/heptad.hpp>

#include "src/api/arguments.hpp"
#include "src/matrix/orientation.hpp"

namespace heptad {

template <typename T>
constexpr element_type type_of = sizeof(T) == sizeof(double) ? element_type::f64 : element_type::f32;

/// The same product with a column-major C.
template <typename T>
operands<T> present(operands<T> const& x) {
  if (orientation_of(x.C) == orientation::column_major) return x;
  return {x.alpha, x.B.transposed(), x.A.transposed(), x.beta, x.C.transposed()};
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
