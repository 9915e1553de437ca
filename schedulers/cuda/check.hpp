// SPDX-License-Identifier: BSD-3-Clause
// What a failure in the middle of a product is to the caller. It is taken out of the thread's last error, where the
// caller would take it for one of its own.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <heptad/heptad.hpp>

namespace heptad::cuda {

inline void check_running(cudaError_t status, char const* what) {
  if (status == cudaSuccess) return;
  (void)cudaGetLastError();
  throw error(heptad::status::internal_error, fmt::format("{}: {} ({}); C may be partly updated", what,
                                                          cudaGetErrorString(status), cudaGetErrorName(status)));
}
inline void check_running(cublasStatus_t status, char const* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  (void)cudaGetLastError();
  throw error(heptad::status::internal_error,
              fmt::format("{}: cuBLAS says {}; C may be partly updated", what, cublasGetStatusString(status)));
}

}  // namespace heptad::cuda
