// SPDX-License-Identifier: BSD-3-Clause
// A matrix as cuBLAS and the copies want it: contiguous lines, a leading dimension apart.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "schedulers/cuda/stream_executor.hpp"
#include "src/matrix/reject.hpp"

namespace heptad::cuda {

/// As cuBLAS wants it: a leading dimension, even where there is one column and the other stride says nothing.
template <typename T>
device_matrix<T> device_view(char const* name, matrix_view<T> const& X) {
  orientation const order = orientation_of(X);
  bool const columns = order == orientation::column_major;
  std::int64_t const rows = columns ? X.rows : X.cols, cols = columns ? X.cols : X.rows;
  std::int64_t const step = columns ? X.row_stride : X.col_stride, ld = columns ? X.col_stride : X.row_stride;
  if (rows > 1 && step != 1)
    reject(fmt::format("{} with row_stride = {} and col_stride = {} must have a stride of 1", name, X.row_stride,
                       X.col_stride));
  if (cols > 1 && ld < rows)
    reject(fmt::format("{} with row_stride = {} and col_stride = {} must have its lines apart", name, X.row_stride,
                       X.col_stride));
  return {X.data, std::max(cols > 1 ? ld : rows, std::int64_t{1}), order};
}

}  // namespace heptad::cuda
