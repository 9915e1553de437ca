// SPDX-License-Identifier: BSD-3-Clause
// The reference of the interface tests: a triple loop in long double over dense copies, and matrices that know what of
// their memory belongs to them.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include <heptad/heptad.hpp>

#ifndef HEPTAD_TEST_SCHEDULER
#define HEPTAD_TEST_SCHEDULER tbb
#endif

namespace heptad::test {

/// The tests of the interface are built once for each parallel scheduler.
inline constexpr scheduler_kind scheduler_under_test = scheduler_kind::HEPTAD_TEST_SCHEDULER;

/// The workers are those of the context, in an arena.
inline constexpr bool own_workers = scheduler_under_test == scheduler_kind::tbb;

inline options under_test(options wishes = {}) {
  if (wishes.scheduler == options{}.scheduler) wishes.scheduler = scheduler_under_test;
  return wishes;
}

enum class layout { columns, rows, spread };  // spread: neither stride is 1

/// A matrix inside a larger allocation whose other elements hold a mark.
template <typename T>
class padded_matrix {
public:
  static constexpr T mark = T(-12345);

  padded_matrix(std::int64_t rows, std::int64_t cols, layout how, std::int64_t padding = 3) {
    std::int64_t const step = how == layout::spread ? 2 : 1;
    std::int64_t const inner = how == layout::rows ? cols : rows;
    std::int64_t const outer = how == layout::rows ? rows : cols;
    std::int64_t const ld = step * inner + padding;
    elements_.assign(static_cast<std::size_t>(ld * outer + 8), mark);
    view_ = {elements_.data() + 4, rows, cols, how == layout::rows ? ld : step, how == layout::rows ? step : ld};
  }
  padded_matrix(padded_matrix const& other) : elements_(other.elements_), view_(other.view_) {
    view_.data = elements_.data() + 4;
  }
  padded_matrix& operator=(padded_matrix const&) = delete;

  T& operator()(std::int64_t i, std::int64_t j) { return view_.data[i * view_.row_stride + j * view_.col_stride]; }
  T operator()(std::int64_t i, std::int64_t j) const { return view_.data[i * view_.row_stride + j * view_.col_stride]; }
  [[nodiscard]] matrix_view<T> view() const { return view_; }
  [[nodiscard]] matrix_view<T const> read() const { return view_; }
  [[nodiscard]] std::int64_t ld() const { return view_.row_stride == 1 ? view_.col_stride : view_.row_stride; }
  [[nodiscard]] std::vector<T> const& memory() const { return elements_; }

  template <typename Random>
  void fill(Random& random, double low = -1, double high = 1) {
    std::uniform_real_distribution<double> uniform(low, high);
    each([&](T& x) { x = static_cast<T>(uniform(random)); });
  }
  void set(T value) {
    each([value](T& x) { x = value; });
  }
  /// Elements outside of the matrix that lost their mark.
  [[nodiscard]] int strays() const {
    padded_matrix copy(*this);
    copy.set(mark);
    int count = 0;
    for (T const x : copy.elements_) count += x != mark;
    return count;
  }

private:
  template <typename Visit>
  void each(Visit const& visit) {
    for (std::int64_t j = 0; j < view_.cols; ++j) {
      for (std::int64_t i = 0; i < view_.rows; ++i) visit((*this)(i, j));
    }
  }

  std::vector<T> elements_;
  matrix_view<T> view_;
};

/// The largest |C − (alpha A B + beta C0)|, the product in long double; infinite when one of the two is NaN.
template <typename T>
double largest_error(T alpha, padded_matrix<T> const& A, padded_matrix<T> const& B, T beta, padded_matrix<T> const& C0,
                     padded_matrix<T> const& C) {
  std::int64_t const m = C.view().rows, n = C.view().cols, k = A.view().cols;
  std::vector<long double> row(static_cast<std::size_t>(k));
  double largest = 0;
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t l = 0; l < k; ++l) row[l] = A(i, l);
    for (std::int64_t j = 0; j < n; ++j) {
      long double sum = 0;
      for (std::int64_t l = 0; l < k; ++l) sum += row[l] * B(l, j);
      long double exact = alpha == T(0) ? 0.0L : static_cast<long double>(alpha) * sum;
      if (beta != T(0)) exact += static_cast<long double>(beta) * C0(i, j);
      auto const error = static_cast<double>(std::abs(exact - C(i, j)));
      if (std::isnan(error)) return HUGE_VAL;
      if (error > largest) largest = error;
    }
  }
  return largest;
}

/// What rounding may do to alpha A B + beta C0 with entries in [−1, 1] under the bound f of a plan.
template <typename T>
double tolerance(plan const& how, double alpha, double beta) {
  double const unit = std::numeric_limits<T>::epsilon() / 2;
  return unit * (how.bound * std::abs(alpha) + how.bound_of_C * std::abs(beta));
}

}  // namespace heptad::test
