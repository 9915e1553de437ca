// SPDX-License-Identifier: BSD-3-Clause
// One column after the other, each updated by all those before it at once (left-looking), in the widest vectors that
// the processor has: the panel is longer than the caches are, and each pass over it counts.
#include "blas/panel.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#define HEPTAD_INLINE [[gnu::always_inline]] inline

namespace heptad::blas {
namespace {

/// x := x - L u
template <typename T>
HEPTAD_INLINE void subtract(T* __restrict x, size rows, T const* L, size ld, T const* u, size count) {
  constexpr size chunk = 1024;  // of x, in the first-level cache until all columns are subtracted
  for (size begin = 0; begin < rows; begin += chunk) {
    size const end = std::min(begin + chunk, rows);
    size j = 0;
    for (; j + 4 <= count; j += 4) {
      T const *a = L + j * ld, *b = a + ld, *c = b + ld, *d = c + ld;
      T const u0 = u[j], u1 = u[j + 1], u2 = u[j + 2], u3 = u[j + 3];
      for (size i = begin; i < end; ++i) x[i] -= (a[i] * u0 + b[i] * u1) + (c[i] * u2 + d[i] * u3);
    }
    for (; j < count; ++j) {
      for (size i = begin; i < end; ++i) x[i] -= L[j * ld + i] * u[j];
    }
  }
}

/// The first of the largest elements. Absolute values are ordered as their bits are, whose maximum compilers vectorize.
template <typename T>
HEPTAD_INLINE size largest(T const* x, size rows) {
  using bits = std::conditional_t<sizeof(T) == sizeof(std::int64_t), std::int64_t, std::int32_t>;
  auto const magnitude = [](T value) { return std::bit_cast<bits>(value) & std::numeric_limits<bits>::max(); };
  bits most = 0;
  for (size i = 0; i < rows; ++i) most = std::max(most, magnitude(x[i]));
  size first = 0;
  while (first < rows - 1 && magnitude(x[first]) != most) ++first;
  return first;
}

template <typename T>
HEPTAD_INLINE std::int32_t factor(matrix_view<T> const& A, std::int32_t* pivots) {
  size const ld = A.col_stride;
  std::int32_t info = 0;
  for (size j = 0; j < A.cols; ++j) {
    T* const x = A.data + j * ld;
    for (size i = 0; i < j; ++i) {
      for (size r = i + 1; r < j; ++r) x[r] -= A.data[i * ld + r] * x[i];
    }
    subtract(x + j, A.rows - j, A.data + j, ld, x, j);
    size const p = j + largest(x + j, A.rows - j);
    pivots[j] = static_cast<std::int32_t>(p + 1);
    if (x[p] == T(0)) {
      if (info == 0) info = static_cast<std::int32_t>(j + 1);
      continue;
    }
    if (p != j) {
      for (size c = 0; c < A.cols; ++c) std::swap(A.data[c * ld + j], A.data[c * ld + p]);
    }
    T const pivot = x[j];
    if (std::abs(pivot) >= std::numeric_limits<T>::min()) {
      T const reciprocal = T(1) / pivot;
      for (size i = j + 1; i < A.rows; ++i) x[i] *= reciprocal;
    } else {
      for (size i = j + 1; i < A.rows; ++i) x[i] /= pivot;
    }
  }
  return info;
}

#if defined(__x86_64__)
template <typename T>
[[gnu::target("avx512f,avx512dq,fma,prefer-vector-width=512")]] std::int32_t factor_avx512(matrix_view<T> const& A,
                                                                                           std::int32_t* pivots) {
  return factor(A, pivots);
}
template <typename T>
[[gnu::target("avx2,fma")]] std::int32_t factor_avx2(matrix_view<T> const& A, std::int32_t* pivots) {
  return factor(A, pivots);
}
#endif

}  // namespace

template <typename T>
std::int32_t factor_panel(matrix_view<T> const& A, std::int32_t* pivots) {
#if defined(__x86_64__)
  bool const avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq");
  bool const avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (avx512) return factor_avx512(A, pivots);
  if (avx2) return factor_avx2(A, pivots);
#endif
  return factor(A, pivots);
}

template std::int32_t factor_panel(matrix_view<double> const&, std::int32_t*);
template std::int32_t factor_panel(matrix_view<float> const&, std::int32_t*);

}  // namespace heptad::blas
