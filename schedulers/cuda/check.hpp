// SPDX-License-Identifier: BSD-3-Clause
// What a failure of CUDA or cuBLAS is to the caller, and in the middle of a product.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <string>

#include <heptad/heptad.hpp>

namespace heptad::cuda {

/// A call of CUDA has failed. It is taken out of the thread's last error, where the caller would take it for one of its
/// own.
[[noreturn]] inline void fail(status code, std::string const& text) {
  (void)cudaGetLastError();
  throw error(code, text);
}

inline status status_of(cudaError_t failure) {
  return failure == cudaErrorMemoryAllocation ? status::out_of_memory : status::internal_error;
}

inline void check_running(cudaError_t status, char const* what) {
  if (status == cudaSuccess) return;
  fail(heptad::status::internal_error,
       fmt::format("{}: {} ({}); C may be partly updated", what, cudaGetErrorString(status), cudaGetErrorName(status)));
}
inline void check_running(cublasStatus_t status, char const* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  fail(heptad::status::internal_error,
       fmt::format("{}: cuBLAS says {}; C may be partly updated", what, cublasGetStatusString(status)));
}

}  // namespace heptad::cuda
