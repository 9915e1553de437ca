// SPDX-License-Identifier: BSD-3-Clause
// The Fortran symbols: dgemm_ and the others with 32-bit integers, dgemm_64_ and the others with 64-bit ones.
// CHARACTER lengths, which follow the other arguments, are not looked at.
#include <cstdint>

#include "blas/calls.hpp"
#include "blas/factor.hpp"
#include "blas/process.hpp"

#define EXPORTED extern "C" __attribute__((visibility("default"))) void

namespace {
using heptad::blas::this_process;
}

// NAME(routine) is the symbol, T the element, I the integer.
#define HEPTAD_LEVEL_3(NAME, T, I)                                                                                     \
  EXPORTED NAME(gemm)(char const* ta, char const* tb, I const* m, I const* n, I const* k, T const* alpha, T const* a,  \
                      I const* lda, T const* b, I const* ldb, T const* beta, T* c, I const* ldc) {                     \
    if (heptad::blas::gemm<T>(*ta, *tb, *m, *n, *k, *alpha, a, *lda, b, *ldb, *beta, c, *ldc)) return;                 \
    this_process().backend_of<T>().gemm.pass<I>(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);                 \
  }                                                                                                                    \
  EXPORTED NAME(symm)(char const* side, char const* uplo, I const* m, I const* n, T const* alpha, T const* a,          \
                      I const* lda, T const* b, I const* ldb, T const* beta, T* c, I const* ldc) {                     \
    if (heptad::blas::symm<T>(*side, *uplo, *m, *n, *alpha, a, *lda, b, *ldb, *beta, c, *ldc)) return;                 \
    this_process().backend_of<T>().symm.pass<I>(side, uplo, m, n, alpha, a, lda, b, ldb, beta, c, ldc);                \
  }                                                                                                                    \
  EXPORTED NAME(syrk)(char const* uplo, char const* trans, I const* n, I const* k, T const* alpha, T const* a,         \
                      I const* lda, T const* beta, T* c, I const* ldc) {                                               \
    if (heptad::blas::syrk<T>(*uplo, *trans, *n, *k, *alpha, a, *lda, *beta, c, *ldc)) return;                         \
    this_process().backend_of<T>().syrk.pass<I>(uplo, trans, n, k, alpha, a, lda, beta, c, ldc);                       \
  }                                                                                                                    \
  EXPORTED NAME(syr2k)(char const* uplo, char const* trans, I const* n, I const* k, T const* alpha, T const* a,        \
                       I const* lda, T const* b, I const* ldb, T const* beta, T* c, I const* ldc) {                    \
    if (heptad::blas::syr2k<T>(*uplo, *trans, *n, *k, *alpha, a, *lda, b, *ldb, *beta, c, *ldc)) return;               \
    this_process().backend_of<T>().syr2k.pass<I>(uplo, trans, n, k, alpha, a, lda, b, ldb, beta, c, ldc);              \
  }                                                                                                                    \
  EXPORTED NAME(trmm)(char const* side, char const* uplo, char const* trans, char const* diag, I const* m, I const* n, \
                      T const* alpha, T const* a, I const* lda, T* b, I const* ldb) {                                  \
    if (heptad::blas::trmm<T>(*side, *uplo, *trans, *diag, *m, *n, *alpha, a, *lda, b, *ldb)) return;                  \
    this_process().backend_of<T>().trmm.pass<I>(side, uplo, trans, diag, m, n, alpha, a, lda, b, ldb);                 \
  }                                                                                                                    \
  EXPORTED NAME(trsm)(char const* side, char const* uplo, char const* trans, char const* diag, I const* m, I const* n, \
                      T const* alpha, T const* a, I const* lda, T* b, I const* ldb) {                                  \
    if (heptad::blas::trsm<T>(*side, *uplo, *trans, *diag, *m, *n, *alpha, a, *lda, b, *ldb)) return;                  \
    this_process().backend_of<T>().trsm.pass<I>(side, uplo, trans, diag, m, n, alpha, a, lda, b, ldb);                 \
  }

#define HEPTAD_FACTORIZATIONS(NAME, T, I)                                                                      \
  EXPORTED NAME(getrf)(I const* m, I const* n, T* a, I const* lda, I* pivots, I* info) {                       \
    if (heptad::blas::getrf<T>(*m, *n, a, *lda, pivots, info)) return;                                         \
    this_process().lapack_of<T>().getrf.pass<I>(m, n, a, lda, pivots, info);                                   \
  }                                                                                                            \
  EXPORTED NAME(potrf)(char const* uplo, I const* n, T* a, I const* lda, I* info) {                            \
    if (heptad::blas::potrf<T>(*uplo, *n, a, *lda, info)) return;                                              \
    this_process().lapack_of<T>().potrf.pass<I>(uplo, n, a, lda, info);                                        \
  }                                                                                                            \
  EXPORTED NAME(gesv)(I const* n, I const* nrhs, T* a, I const* lda, I* pivots, T* b, I const* ldb, I* info) { \
    if (heptad::blas::gesv<T>(*n, *nrhs, a, *lda, pivots, b, *ldb, info)) return;                              \
    this_process().lapack_of<T>().gesv.pass<I>(n, nrhs, a, lda, pivots, b, ldb, info);                         \
  }

#define D32(routine) d##routine##_
#define S32(routine) s##routine##_
#define D64(routine) d##routine##_64_
#define S64(routine) s##routine##_64_
HEPTAD_LEVEL_3(D32, double, std::int32_t)
HEPTAD_LEVEL_3(S32, float, std::int32_t)
HEPTAD_LEVEL_3(D64, double, std::int64_t)
HEPTAD_LEVEL_3(S64, float, std::int64_t)
HEPTAD_FACTORIZATIONS(D32, double, std::int32_t)
HEPTAD_FACTORIZATIONS(S32, float, std::int32_t)
