// SPDX-License-Identifier: BSD-3-Clause
// LU with pivots by the drop-in's own code, with a fast level under every product that can have one, against its
// definition: P A = L U, |L| <= 1, and the first column without a pivot.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <thread>
#include <vector>

#include "blas/factor.hpp"
#include "tests/dropin/in_child.hpp"

namespace {

using heptad::dropin::in_child;

template <typename T>
struct factored {
  int m, n, ld;
  std::vector<T> A, LU;
  std::vector<std::int32_t> pivots;
  std::int32_t info = -1;
  bool carried = false;

  factored(int rows, int cols) : m(rows), n(cols), ld(rows + 3) {
    std::mt19937 random(static_cast<unsigned>(m * 1000 + n));
    std::uniform_real_distribution<T> entry(-1, 1);
    A.resize(static_cast<std::size_t>(ld) * n);
    for (T& x : A) x = entry(random);
  }
  T& at(std::vector<T>& X, int i, int j) const { return X[static_cast<std::size_t>(j) * ld + i]; }

  void factor() {
    LU = A;
    pivots.assign(std::min(m, n), 0);
    carried = heptad::blas::getrf<T>(m, n, LU.data(), ld, pivots.data(), &info);
  }
  /// max |P A - L U| over max |A|, in units of the rounding and of the depth.
  double residual() {
    std::vector<T> PA = A;
    int const rank = std::min(m, n);
    for (int i = 0; i < rank; ++i) {
      for (int j = 0; j < n; ++j) std::swap(at(PA, i, j), at(PA, pivots[i] - 1, j));
    }
    double worst = 0;
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < m; ++i) {
        long double sum = 0;
        for (int l = 0; l <= std::min({i, j, rank - 1}); ++l)
          sum += static_cast<long double>(l == i ? T(1) : at(LU, i, l)) * at(LU, l, j);
        worst = std::max(worst, static_cast<double>(std::abs(sum - at(PA, i, j))));
      }
    }
    return worst / (double{std::numeric_limits<T>::epsilon()} * rank);
  }
  bool multipliers_are_at_most_1() {
    for (int j = 0; j < std::min(m, n); ++j) {
      for (int i = j + 1; i < m; ++i) {
        if (!(std::abs(at(LU, i, j)) <= 1 + 100 * std::numeric_limits<T>::epsilon())) return false;
      }
    }
    return true;
  }
  bool rows_below_are_untouched() {
    for (int j = 0; j < n; ++j) {
      for (int i = m; i < ld; ++i) {
        if (at(LU, i, j) != at(A, i, j)) return false;
      }
    }
    return true;
  }
};

}  // namespace

TEMPLATE_TEST_CASE("LU meets its definition for square, tall and wide matrices", "", double, float) {
  for (auto const& [m, n] :
       {std::pair{2, 2}, {16, 40}, {17, 17}, {40, 16}, {33, 64}, {129, 100}, {70, 400}, {420, 390}}) {
    INFO(m << " x " << n);
    factored<TestType> x(m, n);
    x.factor();
    if (!x.carried) {
      CHECK(std::min(m, n) <= 16);  // nothing to multiply
      continue;
    }
    CHECK(x.info == 0);
    CHECK(x.residual() < 30);
    CHECK(x.multipliers_are_at_most_1());
    CHECK(x.rows_below_are_untouched());
  }
}

// Upper triangular: below the diagonal products of zeros stay 0, with fast levels too.
TEST_CASE("LU names the first column without a pivot and factors the others") {
  for (int const zero : {0, 20, 99, 148}) {
    factored<double> x(150, 150);
    for (int j = 0; j < x.n; ++j) {
      for (int i = j + 1; i < x.m; ++i) x.at(x.A, i, j) = 0;
    }
    x.at(x.A, zero, zero) = x.at(x.A, 149, 149) = 0;
    x.factor();
    REQUIRE(x.carried);
    CHECK(x.info == zero + 1);
    CHECK(x.residual() < 30);
  }
}

TEST_CASE("LU of a matrix with NaN has NaN, and pivots that are rows") {
  factored<double> x(150, 150);
  x.at(x.A, 70, 60) = std::numeric_limits<double>::quiet_NaN();
  x.factor();
  REQUIRE(x.carried);
  CHECK(std::any_of(x.LU.begin(), x.LU.end(), [](double v) { return std::isnan(v); }));
  for (int i = 0; i < 150; ++i) CHECK((x.pivots[i] > i && x.pivots[i] <= 150));
}

TEST_CASE("LU keeps digits beside pivots that have no reciprocal") {
  factored<double> x(60, 60);
  double const tiny = std::numeric_limits<double>::denorm_min();
  for (int j = 0; j < x.n; ++j) {
    for (int i = 0; i < x.m; ++i) x.at(x.A, i, j) = i == j ? 4 * tiny : 0;
  }
  x.at(x.A, 40, 7) = 2 * tiny;
  x.factor();
  REQUIRE(x.carried);
  CHECK(x.info == 0);
  CHECK(x.at(x.LU, 40, 7) == 0.5);
}

TEST_CASE("threads factor at once, and so does the child of a fork") {
  factored<double> expected(300, 300);
  expected.factor();
  auto const same = [&] {
    factored<double> x(300, 300);
    x.factor();
    return x.pivots == expected.pivots && x.residual() < 30;
  };
  std::vector<char> right(8);
  std::vector<std::thread> callers;
  for (char& r : right) callers.emplace_back([&] { r = same(); });
  for (auto& caller : callers) caller.join();
  CHECK(std::count(right.begin(), right.end(), 1) == 8);

  CHECK(in_child(same));
}
