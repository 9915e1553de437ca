/* SPDX-License-Identifier: BSD-3-Clause
 * The C interface for products shared by the CPU and CUDA devices: the arguments of heptad_dgemm. */
#ifndef HEPTAD_HYBRID_H
#define HEPTAD_HYBRID_H

#include <heptad/heptad.h>

#ifdef __cplusplus
extern "C" {
#endif

/** As heptad_dgemm on matrices in host memory, by the process's default context and all devices that can be used, as
 * heptad::hybrid::gemm in <heptad/hybrid.hpp> with its default options. */
HEPTAD_API int heptad_hybrid_dgemm(char transa, char transb, int64_t m, int64_t n, int64_t k, double alpha,
                                   const double* a, int64_t lda, const double* b, int64_t ldb, double beta, double* c,
                                   int64_t ldc);
HEPTAD_API int heptad_hybrid_sgemm(char transa, char transb, int64_t m, int64_t n, int64_t k, float alpha,
                                   const float* a, int64_t lda, const float* b, int64_t ldb, float beta, float* c,
                                   int64_t ldc);

#ifdef __cplusplus
}
#endif

#endif
