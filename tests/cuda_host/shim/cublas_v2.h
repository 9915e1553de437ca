// SPDX-License-Identifier: BSD-3-Clause
// As much of cuBLAS as says what went wrong.
#pragma once

enum cublasStatus_t { CUBLAS_STATUS_SUCCESS = 0, CUBLAS_STATUS_EXECUTION_FAILED = 13 };
inline char const* cublasGetStatusString(cublasStatus_t) { return "a failure of cuBLAS"; }
