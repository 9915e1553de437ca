// SPDX-License-Identifier: BSD-3-Clause
#include "src/api/blas_arguments.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "src/matrix/reject.hpp"

namespace heptad {
namespace {

bool is_transposed(char const* name, char trans) {
  switch (trans) {
    case 'n':
    case 'N':
      return false;
    case 't':
    case 'T':
    case 'c':
    case 'C':
      return true;
    default:
      reject(fmt::format("{} = {:?} must be one of n, N, t, T, c, C", name, trans));
  }
}

void check_leading(char const* name, std::int64_t ld, char const* rows_name, std::int64_t rows) {
  std::int64_t const least = std::max<std::int64_t>(1, rows);
  if (ld >= least) return;
  reject(fmt::format("{} = {} must be at least max(1, {}) = {}", name, ld, rows_name, least));
}

void check_pointer(char const* name, void const* data, std::int64_t rows, std::int64_t cols) {
  if (data != nullptr || rows == 0 || cols == 0) return;
  reject(fmt::format("{} = null must point to {} x {} elements", name, rows, cols));
}

}  // namespace

template <typename T>
operands<T> blas_operands(char transa, char transb, std::int64_t m, std::int64_t n, std::int64_t k, T alpha, T const* a,
                          std::int64_t lda, T const* b, std::int64_t ldb, T beta, T* c, std::int64_t ldc) {
  bool const ta = is_transposed("transa", transa);
  bool const tb = is_transposed("transb", transb);
  check_size("m", m);
  check_size("n", n);
  check_size("k", k);
  check_leading("lda", lda, ta ? "k" : "m", ta ? k : m);
  check_leading("ldb", ldb, tb ? "n" : "k", tb ? n : k);
  check_leading("ldc", ldc, "m", m);
  auto const A = ta ? column_major(a, k, m, lda).transposed() : column_major(a, m, k, lda);
  auto const B = tb ? column_major(b, n, k, ldb).transposed() : column_major(b, k, n, ldb);
  operands<T> const x{alpha, A, B, beta, column_major(c, m, n, ldc)};
  if (x.reads_factors()) {
    check_pointer("a", a, A.rows, A.cols);
    check_pointer("b", b, B.rows, B.cols);
  }
  check_pointer("c", c, m, n);
  check_operands(x);
  return x;
}

template operands<double> blas_operands(char, char, std::int64_t, std::int64_t, std::int64_t, double, double const*,
                                        std::int64_t, double const*, std::int64_t, double, double*, std::int64_t);
template operands<float> blas_operands(char, char, std::int64_t, std::int64_t, std::int64_t, float, float const*,
                                       std::int64_t, float const*, std::int64_t, float, float*, std::int64_t);

}  // namespace heptad
