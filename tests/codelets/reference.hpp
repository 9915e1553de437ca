// SPDX-License-Identifier: BSD-3-Clause
// What a product must be: triple loops in long double, and matrices whose surroundings are watched. Shares no code
// with the codelets.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace heptad::test {

enum class order { column_major, row_major, strided };

template <typename T>
T random_element(std::mt19937_64& random) {
  return std::uniform_real_distribution<T>(T(-1), T(1))(random);
}

/// A matrix inside a larger allocation: `before` elements ahead of it, a leading dimension larger than its extent by
/// `gap`, and `after` elements behind its last one. Everything around the elements holds `around`.
template <typename T>
class framed_matrix {
public:
  framed_matrix(std::int64_t rows, std::int64_t cols, order o, int before, int gap, int after, T around)
      : rows_(rows), cols_(cols), before_(before), around_(around) {
    std::int64_t const step = o == order::strided ? 2 : 1;
    std::int64_t const along = o == order::row_major ? cols : rows;
    rs = o == order::row_major ? along + gap : step;
    cs = o == order::row_major ? step : step * along + gap;
    std::int64_t const used = rows > 0 && cols > 0 ? (rows - 1) * rs + (cols - 1) * cs + 1 : 0;
    storage_.assign(static_cast<std::size_t>(before + used + after), around);
  }

  [[nodiscard]] T* data() { return storage_.data() + before_; }
  [[nodiscard]] T& operator()(std::int64_t i, std::int64_t j) { return data()[i * rs + j * cs]; }

  void fill(T value) {
    for (std::int64_t j = 0; j < cols_; ++j)
      for (std::int64_t i = 0; i < rows_; ++i) (*this)(i, j) = value;
  }
  void randomize(std::mt19937_64& random) {
    for (std::int64_t j = 0; j < cols_; ++j)
      for (std::int64_t i = 0; i < rows_; ++i) (*this)(i, j) = random_element<T>(random);
  }

  /// Whether everything around the elements is as it was made. Destroys the elements.
  [[nodiscard]] bool surroundings_intact() {
    fill(around_);
    for (T const& x : storage_)
      if (std::memcmp(&x, &around_, sizeof(T)) != 0) return false;
    return true;
  }

  std::int64_t rs = 1, cs = 1;

private:
  std::int64_t rows_, cols_;
  int before_;
  T around_;
  std::vector<T> storage_;
};

/// M = A B for A = Σ u_i A_i and B = Σ v_j B_j, and the same of absolute values, which bounds the rounding errors.
struct exact_product {
  std::int64_t m, n;
  std::vector<long double> value, magnitude;  // column-major
};

template <typename T>
struct weighted {
  framed_matrix<T>* matrix;
  T coefficient;
};

/// Four rows at a time, as a sum waits for the one before it. Magnitudes need not be so precise.
template <typename T>
exact_product multiply(std::vector<weighted<T>> const& a, std::vector<weighted<T>> const& b, std::int64_t m,
                       std::int64_t n, std::int64_t k) {
  struct sum {
    long double value = 0;
    double magnitude = 0;
  };
  auto const sum_of = [](std::vector<weighted<T>> const& terms, std::int64_t i, std::int64_t j) {
    sum s;
    for (weighted<T> const& t : terms) {
      long double const x = static_cast<long double>(t.coefficient) * (*t.matrix)(i, j);
      s.value += x;
      s.magnitude += static_cast<double>(std::fabs(x));
    }
    return s;
  };
  constexpr std::int64_t together = 4;
  std::vector<sum> A, B;  // A by `together` rows, zeros below the last one; B by columns
  for (std::int64_t i = 0; i < m; i += together)
    for (std::int64_t p = 0; p < k; ++p)
      for (std::int64_t r = i; r < i + together; ++r) A.push_back(r < m ? sum_of(a, r, p) : sum{});
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t p = 0; p < k; ++p) B.push_back(sum_of(b, p, j));

  exact_product M{m, n, {}, {}};
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < m; i += together) {
      sum s[together];
      sum const* x = A.data() + i * k;
      sum const* y = B.data() + j * k;
      for (std::int64_t p = 0; p < k; ++p, x += together, ++y)
#pragma GCC unroll 4
        for (int r = 0; r < together; ++r) {
          s[r].value += x[r].value * y->value;
          s[r].magnitude += x[r].magnitude * y->magnitude;
        }
      for (std::int64_t r = 0; r < std::min(together, m - i); ++r) {
        M.value.push_back(s[r].value);
        M.magnitude.push_back(s[r].magnitude);
      }
    }
  return M;
}

/// Elements of C that are further from beta·before + w·M than `roundings` roundings of the terms that make them.
/// beta = 0 ignores `before`.
template <typename T>
std::int64_t count_wrong(framed_matrix<T>& C, framed_matrix<T>& before, T beta, T w, exact_product const& M,
                         std::int64_t roundings) {
  long double const unit =
      static_cast<long double>(std::numeric_limits<T>::epsilon()) * static_cast<long double>(roundings);
  std::int64_t wrong = 0;
  for (std::int64_t j = 0; j < M.n; ++j)
    for (std::int64_t i = 0; i < M.m; ++i) {
      auto const at = static_cast<std::size_t>(j * M.m + i);
      long double const old = beta == T(0) ? 0.0L : static_cast<long double>(beta) * before(i, j);
      long double const expected = old + w * M.value[at];
      long double const allowed = unit * (std::fabs(old) + std::fabs(static_cast<long double>(w)) * M.magnitude[at]);
      if (!(std::fabs(C(i, j) - expected) <= allowed)) ++wrong;  // NaN is wrong
    }
  return wrong;
}

}  // namespace heptad::test
