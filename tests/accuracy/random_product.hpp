// SPDX-License-Identifier: BSD-3-Clause
// Products of random shape, layout and factors, with plans of random levels, and a triple loop in long double beside.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include <heptad/heptad.hpp>

#include "tests/api/reference.hpp"

namespace heptad::test {

using generator = std::mt19937_64;

inline std::int64_t below(generator& random, std::int64_t n) {
  return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
}
inline double uniform(generator& random, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random);
}

/// C = alpha A B + beta C0 with what it takes to judge C.
template <typename T>
struct product {
  T alpha = 1, beta = 0;
  padded_matrix<T> A, B, C0, C;

  product(std::int64_t m, std::int64_t n, std::int64_t k, layout a, layout b, layout c)
      : A(m, k, a), B(k, n, b), C0(m, n, c), C(m, n, c) {}

  [[nodiscard]] std::int64_t m() const { return C.view().rows; }
  [[nodiscard]] std::int64_t n() const { return C.view().cols; }
  [[nodiscard]] std::int64_t k() const { return A.view().cols; }
  /// As run: with a row-major C, of the transposed product.
  [[nodiscard]] problem shape() const;

  /// C := C0, or NaN where C must not be read.
  void reset();
};

/// Sizes up to `most`, any layouts, alpha and beta among 0, ±1 and others.
template <typename T>
product<T> random_product(generator& random, std::int64_t most);

/// Up to three levels of any algorithm, in any kinds, that divide the shape at all; with random slots, order, variant,
/// strips and workers. As the caller of gemm(plan) may make one. Never without levels unless the shape is too small.
plan random_plan(generator& random, element_type type, problem const& shape);

/// alpha A B + beta C0 in long double.
template <typename T>
std::vector<long double> exact(product<T> const& x);  // column-major

/// The largest finite magnitude.
template <typename T>
double largest_finite(padded_matrix<T> const& X);

/// What rounding may do to an element of C under the plan that ran: its proved bound, and for each of the k products
/// and the few factors what underflow may take.
template <typename T>
double allowed_error(product<T> const& x, plan const& how);

}  // namespace heptad::test
