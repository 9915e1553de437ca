/* SPDX-License-Identifier: BSD-3-Clause
 * The C interface for CUDA devices: column-major, the arguments of heptad_dgemm on device memory, asynchronous. */
#ifndef HEPTAD_CUDA_H
#define HEPTAD_CUDA_H

#include <heptad/heptad.h>

#ifdef __cplusplus
extern "C" {
#endif

/** C := alpha op(A) op(B) + beta C as heptad_dgemm, with a, b and c in the memory of the current device. `stream` is a
 * cudaStream_t (null: the default stream). Queues the work and returns HEPTAD_SUCCESS, or an error code: then nothing
 * was queued, unless it is HEPTAD_INTERNAL_ERROR, and heptad_cuda_last_error() says which argument was wrong. May be
 * captured into a CUDA graph after a call that was not, which leaves the cuBLAS handle that none can make meanwhile. */
HEPTAD_API int heptad_cuda_dgemm(void* stream, char transa, char transb, int64_t m, int64_t n, int64_t k, double alpha,
                                 const double* a, int64_t lda, const double* b, int64_t ldb, double beta, double* c,
                                 int64_t ldc);
HEPTAD_API int heptad_cuda_sgemm(void* stream, char transa, char transb, int64_t m, int64_t n, int64_t k, float alpha,
                                 const float* a, int64_t lda, const float* b, int64_t ldb, float beta, float* c,
                                 int64_t ldc);

/** The last failure of the calling thread in this library; "" when there was none. */
HEPTAD_API const char* heptad_cuda_last_error(void);

#ifdef __cplusplus
}
#endif

#endif
