// SPDX-License-Identifier: BSD-3-Clause
// The C interface for devices: codes instead of exceptions.
#include <cstring>
#include <new>

#include <heptad/cuda.h>
#include <heptad/cuda.hpp>

#include "src/api/blas_arguments.hpp"

namespace heptad::cuda {
namespace {

/// Fixed storage, so that noting a failure cannot fail.
thread_local char last_error[512] = "";

int note_failure(heptad::status code, char const* message) noexcept {
  std::strncpy(last_error, message, sizeof last_error - 1);
  return static_cast<int>(code);
}

template <typename T>
int column_major_gemm(void* stream, char transa, char transb, std::int64_t m, std::int64_t n, std::int64_t k, T alpha,
                      T const* a, std::int64_t lda, T const* b, std::int64_t ldb, T beta, T* c,
                      std::int64_t ldc) noexcept {
  try {
    auto const x = blas_operands(transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    gemm<T>(static_cast<cudaStream_t>(stream), nullptr, x.alpha, x.A, x.B, x.beta, x.C);
    return HEPTAD_SUCCESS;
  } catch (error const& e) {
    return note_failure(e.code(), e.what());
  } catch (std::bad_alloc const&) {
    return note_failure(heptad::status::out_of_memory, "out of host memory; nothing was queued");
  } catch (std::exception const& e) {
    return note_failure(heptad::status::internal_error, e.what());
  }
}

}  // namespace
}  // namespace heptad::cuda

int heptad_cuda_dgemm(void* stream, char transa, char transb, int64_t m, int64_t n, int64_t k, double alpha,
                      const double* a, int64_t lda, const double* b, int64_t ldb, double beta, double* c, int64_t ldc) {
  return heptad::cuda::column_major_gemm(stream, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

int heptad_cuda_sgemm(void* stream, char transa, char transb, int64_t m, int64_t n, int64_t k, float alpha,
                      const float* a, int64_t lda, const float* b, int64_t ldb, float beta, float* c, int64_t ldc) {
  return heptad::cuda::column_major_gemm(stream, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

const char* heptad_cuda_last_error(void) { return heptad::cuda::last_error; }
