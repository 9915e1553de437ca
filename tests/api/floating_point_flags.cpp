// SPDX-License-Identifier: BSD-3-Clause
// The flags of floating-point arithmetic after a product: NumPy and others warn of what a call leaves raised.
#include <heptad/heptad.hpp>

#include <catch2/catch.hpp>
#include <cfenv>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "tests/api/reference.hpp"

namespace {

/// rows × cols random elements, but row or column `zero` of zeros; all of them zeros if that is -1.
template <typename T>
std::vector<T> elements(std::int64_t rows, std::int64_t cols, std::int64_t zero_row, std::int64_t zero_col) {
  std::mt19937 random(5);
  std::uniform_real_distribution<T> uniform(-1, 1);
  std::vector<T> X;
  for (std::int64_t j = 0; j < cols; ++j) {
    for (std::int64_t i = 0; i < rows; ++i) {
      bool const zero = zero_row < 0 || i == zero_row || j == zero_col;
      X.push_back(zero ? T(0) : uniform(random));
    }
  }
  return X;
}

}  // namespace

TEMPLATE_TEST_CASE("a product leaves no flag raised but that of rounding", "", float, double) {
  using T = TestType;
  heptad::context alone(1), shared(2);
  std::int64_t const shapes[][3] = {{64, 64, 64}, {37, 41, 53}, {300, 7, 70}};
  for (auto const& [m, n, k] : shapes) {
    for (std::int64_t const zero_line : {-1, 3, 1000}) {
      auto const A = elements<T>(m, k, zero_line, zero_line), B = elements<T>(k, n, zero_line, zero_line);
      auto const random_B = elements<T>(k, n, 1000, 1000);
      std::vector<T> C(static_cast<std::size_t>(m * n), T(1));
      for (heptad::context* workers : {&alone, &shared}) {
        for (auto const* right : {&B, &random_B}) {
          for (int const levels : {-1, 0, 1, 2, -2}) {
            T const beta = levels == -2 ? T(0) : T(0.25);  // C is made before all of A and B is known
            CAPTURE(m, n, k, zero_line, workers == &shared, right == &B, levels);
            heptad::options wishes;
            if (levels >= 0) wishes.force_levels = levels;
            if (levels == -2) wishes.force_levels = 1, wishes.max_workspace = 0;
            std::feclearexcept(FE_ALL_EXCEPT);
            heptad::gemm(*workers, T(0.5), heptad::column_major(A.data(), m, k, m),
                         heptad::column_major(right->data(), k, n, k), beta, heptad::column_major(C.data(), m, n, m),
                         heptad::test::under_test(wishes));
            CHECK(std::fetestexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW | FE_UNDERFLOW) == 0);
          }
        }
      }
    }
  }
}

TEMPLATE_TEST_CASE("where C has to be made again, the flags are those of how it was made", "", float, double) {
  using T = TestType;
  heptad::context alone(1);
  std::int64_t const n = 96;
  auto large = elements<T>(n, n, 1000, 1000);
  auto const B = elements<T>(n, n, 1000, 1000);
  for (std::int64_t const i : {std::int64_t{30}, 30 + n / 2})
    for (std::int64_t const j : {std::int64_t{30}, 30 + n / 2})
      large[i + j * n] = std::numeric_limits<T>::max() / 2;  // their sums overflow
  auto const A = large;
  std::vector<T> C(static_cast<std::size_t>(n * n));
  heptad::options wishes;
  wishes.force_levels = 1, wishes.max_workspace = 0, wishes.algorithm = "strassen";
  wishes.scheduler = heptad::scheduler_kind::sequential;
  wishes.scaling = heptad::scaling_kind::none;
  std::feclearexcept(FE_ALL_EXCEPT);
  auto const r =
      heptad::gemm(alone, T(0.01), heptad::column_major(A.data(), n, n, n), heptad::column_major(B.data(), n, n, n),
                   T(0), heptad::column_major(C.data(), n, n, n), heptad::test::under_test(wishes));
  CHECK(r.precaution == "sums of blocks of A could overflow");
  CHECK(std::fetestexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW) == 0);
}
