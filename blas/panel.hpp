// SPDX-License-Identifier: BSD-3-Clause
// What a factorization does between its products: a few columns at a time, on the calling thread.
#pragma once

#include <cstdint>

#include "blas/blocks.hpp"

namespace heptad::blas {

/// Columns that are factored one by one.
inline constexpr size panel_width = 16;

/// P A = L U in place, for a column-major A with no more columns than rows. Pivots count from 1; the first column
/// without a pivot, from 1, or 0 when there is none.
template <typename T>
std::int32_t factor_panel(matrix_view<T> const& A, std::int32_t* pivots);

}  // namespace heptad::blas
