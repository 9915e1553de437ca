// SPDX-License-Identifier: BSD-3-Clause
#include <heptad/cuda.hpp>

void multiply(cudaStream_t stream, cublasHandle_t handle, heptad::matrix_view<double const> A,
              heptad::matrix_view<double const> B, heptad::matrix_view<double> C, heptad::problem shape, void* memory) {
  cublasHandle_t const handle_or_null = nullptr;
@snippet@
}
