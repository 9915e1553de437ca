// SPDX-License-Identifier: BSD-3-Clause
// A call of CUDA or cuBLAS that fails ends the benchmark.
#pragma once

#include <cublas_v2.h>

#include <stdexcept>

#include "src/api/cuda/device.hpp"

namespace heptad::bench {

using cuda::check;

inline void check(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS) throw std::runtime_error(cublasGetStatusString(status));
}

}  // namespace heptad::bench
