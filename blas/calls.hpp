// SPDX-License-Identifier: BSD-3-Clause
// The routines with the arguments of the reference BLAS, column-major. Each says whether Heptad carried the call; if
// not, nothing was touched and the caller passes it on. That is so for small calls, for those where no fast level
// pays, and for those that break a rule of the reference: the backend reports these through xerbla_.
#pragma once

#include <cstdint>

namespace heptad::blas {

using size = std::int64_t;

template <typename T>
bool gemm(char transa, char transb, size m, size n, size k, T alpha, T const* a, size lda, T const* b, size ldb, T beta,
          T* c, size ldc);
template <typename T>
bool symm(char side, char uplo, size m, size n, T alpha, T const* a, size lda, T const* b, size ldb, T beta, T* c,
          size ldc);
template <typename T>
bool syrk(char uplo, char trans, size n, size k, T alpha, T const* a, size lda, T beta, T* c, size ldc);
template <typename T>
bool syr2k(char uplo, char trans, size n, size k, T alpha, T const* a, size lda, T const* b, size ldb, T beta, T* c,
           size ldc);
template <typename T>
bool trmm(char side, char uplo, char transa, char diag, size m, size n, T alpha, T const* a, size lda, T* b, size ldb);
template <typename T>
bool trsm(char side, char uplo, char transa, char diag, size m, size n, T alpha, T const* a, size lda, T* b, size ldb);

}  // namespace heptad::blas
