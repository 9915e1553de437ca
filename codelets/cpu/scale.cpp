// SPDX-License-Identifier: BSD-3-Clause
// scale: the combine pass of no inputs and one output.
#include "codelets/cpu/combine.hpp"

namespace heptad::cpu {

template <typename T>
void scale(T beta, T* X, std::int64_t rows, std::int64_t cols, std::int64_t row_stride, std::int64_t col_stride) {
  if (beta == 1) return;
  combine_program<T> const zero{0, {}, {{0, 0}}};
  combine_output<T> const output{X, row_stride, col_stride, beta};
  combine<T>(zero, {}, std::span(&output, 1), rows, cols, false);
}

template void scale<double>(double, double*, std::int64_t, std::int64_t, std::int64_t, std::int64_t);
template void scale<float>(float, float*, std::int64_t, std::int64_t, std::int64_t, std::int64_t);

}  // namespace heptad::cpu
