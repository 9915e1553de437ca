// SPDX-License-Identifier: BSD-3-Clause
// LU and Cholesky factorizations by halves of the columns (Toledo 1997; Gustavson 1997), so that most of the work is
// in few, large products; LAPACK's own updates are too thin for a fast level. As in calls.hpp, each says whether
// Heptad carried the call. `info` as in LAPACK.
#pragma once

#include <cstdint>

namespace heptad::blas {

using size = std::int64_t;

template <typename T>
bool getrf(size m, size n, T* a, size lda, std::int32_t* pivots, std::int32_t* info);
template <typename T>
bool potrf(char uplo, size n, T* a, size lda, std::int32_t* info);
template <typename T>
bool gesv(size n, size nrhs, T* a, size lda, std::int32_t* pivots, T* b, size ldb, std::int32_t* info);

}  // namespace heptad::blas
