// SPDX-License-Identifier: BSD-3-Clause
#include "codelets/cuda/product.hpp"

#include <type_traits>

namespace heptad::cuda {
namespace {

template <typename T>
cublasComputeType_t compute_type(arithmetic how) {
  if constexpr (std::is_same_v<T, double>) return CUBLAS_COMPUTE_64F;
  if (how == arithmetic::tf32) return CUBLAS_COMPUTE_32F_FAST_TF32;
  return how == arithmetic::bf16 ? CUBLAS_COMPUTE_32F_FAST_16BF : CUBLAS_COMPUTE_32F;
}

cublasOperation_t operation(orientation order) {
  return order == orientation::column_major ? CUBLAS_OP_N : CUBLAS_OP_T;
}

}  // namespace

template <typename T>
cublasStatus_t product(cublasHandle_t handle, arithmetic how, product_call<T> const& x) {
  constexpr cudaDataType_t type = std::is_same_v<T, double> ? CUDA_R_64F : CUDA_R_32F;
  cublasOperation_t const op_a = operation(x.a.order), op_b = operation(x.b.order);
  if (x.count == 1)
    return cublasGemmEx_64(handle, op_a, op_b, x.m, x.n, x.k, &x.alpha, x.a.data, type, x.a.ld, x.b.data, type, x.b.ld,
                           &x.beta, x.c, type, x.ldc, compute_type<T>(how), CUBLAS_GEMM_DEFAULT);
  return cublasGemmStridedBatchedEx_64(handle, op_a, op_b, x.m, x.n, x.k, &x.alpha, x.a.data, type, x.a.ld, x.a.stride,
                                       x.b.data, type, x.b.ld, x.b.stride, &x.beta, x.c, type, x.ldc, x.stride_c,
                                       x.count, compute_type<T>(how), CUBLAS_GEMM_DEFAULT);
}

template cublasStatus_t product(cublasHandle_t, arithmetic, product_call<double> const&);
template cublasStatus_t product(cublasHandle_t, arithmetic, product_call<float> const&);

handle_modes::handle_modes(cublasHandle_t handle) : handle_(handle) {
  cublasGetPointerMode(handle, &pointers_);
  cublasGetMathMode(handle, &math_);
  if (pointers_ != CUBLAS_POINTER_MODE_HOST) cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST);
  if (math_ != CUBLAS_DEFAULT_MATH) cublasSetMathMode(handle, CUBLAS_DEFAULT_MATH);
}

handle_modes::~handle_modes() {
  if (pointers_ != CUBLAS_POINTER_MODE_HOST) cublasSetPointerMode(handle_, pointers_);
  if (math_ != CUBLAS_DEFAULT_MATH) cublasSetMathMode(handle_, math_);
}

}  // namespace heptad::cuda
