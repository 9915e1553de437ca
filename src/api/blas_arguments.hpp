// SPDX-License-Identifier: BSD-3-Clause
// The arguments of the BLAS as operands, for every C interface: trans and leading dimensions are checked here, the rest
// by check_operands().
#pragma once

#include <cstdint>

#include "src/api/arguments.hpp"

namespace heptad {

/// C := alpha op(A) op(B) + beta C, column-major. Throws error{invalid_argument} that names the argument.
template <typename T>
operands<T> blas_operands(char transa, char transb, std::int64_t m, std::int64_t n, std::int64_t k, T alpha, T const* a,
                          std::int64_t lda, T const* b, std::int64_t ldb, T beta, T* c, std::int64_t ldc);

}  // namespace heptad
