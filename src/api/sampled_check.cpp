// SPDX-License-Identifier: BSD-3-Clause
// Errors E of one row meet random signs, so |Σ E_j x_j| ≤ 9 √n max |E| but with probability 2 exp(−81/2) = 5e-18 a row
// (Hoeffding): below 1e-13 for ten thousand rows. Everything is summed in double, in short runs, so that the check's
// own rounding stays below that of the product.
#include "src/api/sampled_check.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <new>
#include <random>

#include "src/plan/planner.hpp"

namespace heptad {
namespace {

constexpr double tail = 9;
constexpr std::int64_t row_block = 256, column_block = 32;

/// y += scale X x for several vectors (columns of x and y) in one pass over X; returns the largest |X| that is finite.
template <typename T>
double add_product(double scale, matrix_view<T const> const& X, std::vector<double> const& x, int vectors,
                   std::vector<double>& y) {
  double largest = 0;
  for (std::int64_t i0 = 0; i0 < X.rows; i0 += row_block)
    for (std::int64_t j0 = 0; j0 < X.cols; j0 += column_block) {
      std::int64_t const rows = std::min(row_block, X.rows - i0), cols = std::min(column_block, X.cols - j0);
      for (int v = 0; v < vectors; ++v) {
        std::array<double, row_block> sum{};
        for (std::int64_t j = 0; j < cols; ++j) {
          T const* const column = X.data + i0 * X.row_stride + (j0 + j) * X.col_stride;
          double const factor = x[static_cast<std::size_t>(v * X.cols + j0 + j)];
          for (std::int64_t i = 0; i < rows; ++i) {
            double const element = column[i * X.row_stride];
            sum[static_cast<std::size_t>(i)] += factor * element;
            if (v == 0 && std::isfinite(element)) largest = std::max(largest, std::abs(element));
          }
        }
        for (std::int64_t i = 0; i < rows; ++i)
          y[static_cast<std::size_t>(v * X.rows + i0 + i)] += scale * sum[static_cast<std::size_t>(i)];
      }
    }
  return largest;
}

}  // namespace

template <typename T>
sampled_check<T>::sampled_check(operands<T> const& x, int vectors) : x_(x), vectors_(vectors) {
  if (x.C.rows == 0 || x.C.cols == 0) return;
  auto const size = [vectors](std::int64_t elements) {
    std::size_t numbers = 0;
    if (__builtin_mul_overflow(elements, vectors, &numbers) || numbers > std::vector<double>().max_size())
      throw std::bad_alloc();
    return numbers;
  };
  std::mt19937_64 random(0x5eed);
  signs_.resize(size(x.C.cols));
  for (double& sign : signs_) sign = random() % 2 == 0 ? 1 : -1;
  expected_.assign(size(x.C.rows), 0.0);
  found_.resize(expected_.size());
  if (x.reads_factors()) {
    std::vector<double> inner(size(x.A.cols), 0.0);
    largest_B_ = add_product(1.0, x.B, signs_, vectors, inner);
    largest_A_ = add_product(static_cast<double>(x.alpha), x.A, inner, vectors, expected_);
  }
  matrix_view<T const> const C = x.C;
  if (x.beta != T(0)) largest_C_ = add_product(static_cast<double>(x.beta), C, signs_, vectors, expected_);
}

template <typename T>
sampled_error sampled_check<T>::judge(plan const& how) noexcept {
  sampled_error result;
  result.vectors = vectors_;
  if (found_.empty()) return result;
  std::ranges::fill(found_, 0.0);
  matrix_view<T const> const C = x_.C;
  add_product(1.0, C, signs_, vectors_, found_);
  double largest = 0;
  bool judged = false;
  for (std::size_t i = 0; i < found_.size(); ++i) {
    if (!std::isfinite(expected_[i])) continue;
    judged = true;
    double const error = std::abs(found_[i] - expected_[i]);
    largest = std::isfinite(error) ? std::max(largest, error) : std::numeric_limits<double>::infinity();
  }
  if (!judged) return result;
  result.observed = largest / std::sqrt(static_cast<double>(C.cols));
  double const u = unit_roundoff(how.type);
  bool const multiplies = x_.reads_factors();
  double const k = multiplies ? static_cast<double>(x_.A.cols) : 0;
  double const alpha = multiplies ? std::abs(static_cast<double>(x_.alpha)) : 0;
  double const beta = std::abs(static_cast<double>(x_.beta));
  double const bound = how.bound * alpha * largest_A_ * largest_B_;
  // What underflows is not in the bound: at most half of the least number in each of the k products of an element, and
  // again where a sum of them, times alpha, comes to C, where C is multiplied by beta, and where it is scaled back.
  double const lost = (alpha * k + k + 2) * std::numeric_limits<T>::denorm_min();
  result.limit = tail * (u * (bound + (how.bound_of_C + 1) * beta * largest_C_) + lost);
  result.passed = result.observed <= result.limit;
  return result;
}

template class sampled_check<double>;
template class sampled_check<float>;

}  // namespace heptad
