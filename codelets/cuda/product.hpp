// SPDX-License-Identifier: BSD-3-Clause
// product on a device: C_i := alpha A_i B_i + beta C_i by cuBLAS, one or a strided batch, in a stated arithmetic.
#pragma once

#include <cublas_v2.h>

#include <cstdint>

#include <heptad/cuda.hpp>

#include "src/matrix/orientation.hpp"

namespace heptad::cuda {

template <typename T>
struct factor {
  T const* data;
  std::int64_t ld;
  orientation order;
  std::int64_t stride;  // elements to that of the next product
};

template <typename T>
struct product_call {
  std::int64_t m, n, k;
  factor<T> a, b;
  T* c;  // column-major
  std::int64_t ldc, stride_c;
  T alpha, beta;
  int count = 1;
};

/// On the handle's stream. The handle must be in host pointer mode and default math mode (see handle_modes).
template <typename T>
cublasStatus_t product(cublasHandle_t handle, arithmetic how, product_call<T> const& call);

/// Sets the modes that product() relies on, and restores the caller's.
class handle_modes {
public:
  explicit handle_modes(cublasHandle_t handle);
  ~handle_modes();
  handle_modes(handle_modes const&) = delete;
  handle_modes& operator=(handle_modes const&) = delete;

private:
  cublasHandle_t handle_;
  cublasPointerMode_t pointers_ = CUBLAS_POINTER_MODE_HOST;
  cublasMath_t math_ = CUBLAS_DEFAULT_MATH;
};

}  // namespace heptad::cuda
