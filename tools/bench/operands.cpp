// SPDX-License-Identifier: BSD-3-Clause
#include "tools/bench/operands.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>
#include <vector>

#include "src/matrix/limits.hpp"

namespace heptad::bench {
namespace {

constexpr std::size_t huge_page = std::size_t{1} << 21;  // bytes
constexpr std::uint64_t seed_a = 1, seed_b = 2, seed_c = 3, seed_x = 4;

// splitmix64 (Steele, Lea & Flood 2014): every place gets its own stream position.
std::uint64_t hash(std::uint64_t seed, std::uint64_t place) {
  std::uint64_t z = (seed << 56) + (place + 1) * 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

// Uniform in [−1, 1), with all digits of T: products of shorter numbers would be exact, and hide the error.
template <typename T>
T entry(std::uint64_t seed, std::int64_t place) {
  constexpr int digits = std::numeric_limits<T>::digits;
  auto const integer = static_cast<std::int64_t>(hash(seed, static_cast<std::uint64_t>(place)) >> (64 - digits));
  return static_cast<T>(integer - (std::int64_t{1} << (digits - 1))) / static_cast<T>(std::int64_t{1} << (digits - 1));
}

double sign(std::int64_t place) { return (hash(seed_x, static_cast<std::uint64_t>(place)) & 1) != 0 ? 1.0 : -1.0; }

// Up to 64 indices spread over [0, size), the last one included.
std::vector<std::int64_t> spread(std::int64_t size) {
  std::int64_t const count = std::min<std::int64_t>(size, 64);
  std::vector<std::int64_t> indices;
  for (std::int64_t i = 1; i <= count; ++i) indices.push_back(i * size / count - 1);
  return indices;
}

// result += M x
template <typename T>
void add_product(matrix<T> const& M, std::vector<double> const& x, std::vector<double>& result) {
  for (std::int64_t j = 0; j < M.cols(); ++j) {
    double const scale = x[j];
    for (std::int64_t i = 0; i < M.rows(); ++i) result[i] += scale * static_cast<double>(M(i, j));
  }
}

// The larger; NaN counts as a huge number, since JSON has no infinity.
template <typename Real>
Real worse(Real known, Real seen) {
  return std::isnan(seen) ? Real{1e200} : std::max(known, seen);
}

placement placement_of(gemm_case const& what) {
  return what.operand_sets > 1 ? placement::heap : placement::huge_pages;
}

}  // namespace

template <typename T>
matrix<T>::matrix(std::int64_t rows, std::int64_t cols, bool transposed, placement where)
    : rows_(rows), cols_(cols), transposed_(transposed) {
  std::size_t const bytes = static_cast<std::size_t>(rows * cols) * sizeof(T);
  std::size_t const unit = where == placement::huge_pages ? huge_page : cache_line;
  std::size_t const rounded = (bytes + unit - 1) / unit * unit;
  data_.reset(static_cast<T*>(std::aligned_alloc(unit, rounded)));
  if (!data_) throw std::bad_alloc();
  if (unit == huge_page)
    madvise(data_.get(), rounded, MADV_HUGEPAGE);  // only advice: without huge pages it is slower for all alike
}

template <typename T>
void matrix<T>::fill(std::uint64_t seed) {
  for (std::int64_t place = 0; place < rows_ * cols_; ++place) data_.get()[place] = entry<T>(seed, place);
}

template <typename T>
void matrix<T>::fill_nan() {
  std::fill_n(data_.get(), rows_ * cols_, std::numeric_limits<T>::quiet_NaN());
}

template <typename T>
operands<T>::operands(gemm_case const& what_)
    : what(what_),
      A(what.m, what.k, what.a_transposed(), placement_of(what)),
      B(what.k, what.n, what.b_transposed(), placement_of(what)),
      C(what.m, what.n, false, placement_of(what)) {
  A.fill(seed_a);
  B.fill(seed_b);
  reset_c();
}

template <typename T>
void operands<T>::reset_c() {
  if (what.beta == 0) C.fill_nan();
  else C.fill(seed_c);
}

template <typename T>
verdict operands<T>::check(double bound) const {
  auto const [type, m, n, k, threads, beta, transposes, operand_sets] = what;
  double const unit = std::numeric_limits<T>::epsilon() / 2;

  long double error = 0, scale = 0;
  for (std::int64_t const i : spread(m)) {
    std::vector<long double> row(k);
    for (std::int64_t p = 0; p < k; ++p) row[p] = A(i, p);
    for (std::int64_t const j : spread(n)) {
      long double exact = beta == 0 ? 0 : static_cast<long double>(beta) * entry<T>(seed_c, i + j * m);
      for (std::int64_t p = 0; p < k; ++p) exact += row[p] * static_cast<long double>(B(p, j));
      error = worse(error, std::abs(static_cast<long double>(C(i, j)) - exact));
      scale = std::max(scale, std::abs(exact));
    }
  }

  std::vector<double> x(n), y(k), expected(m), got(m);
  for (std::int64_t j = 0; j < n; ++j) x[j] = sign(j);
  add_product(B, x, y);
  add_product(A, y, expected);
  if (beta != 0)
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < m; ++i)
        expected[i] += beta * x[j] * static_cast<double>(entry<T>(seed_c, i + j * m));
  add_product(C, x, got);
  double residual = 0;
  for (std::int64_t i = 0; i < m; ++i) residual = worse(residual, std::abs(got[i] - expected[i]));

  // Errors of n entries with random signs add up like √n times one entry's; 30 leaves room for the tail and for the
  // rounding of the test itself, and is far below one wrong entry.
  auto const reference = static_cast<double>(scale);
  verdict result;
  result.max_error = static_cast<double>(error) / reference;
  result.allowed_error = (bound + std::abs(beta) * static_cast<double>(k + 2)) * unit / reference;
  result.residual = residual / reference;
  result.allowed_residual = 30 * std::sqrt(static_cast<double>(n)) * std::max(result.max_error, 8 * unit);
  return result;
}

template class matrix<float>;
template class matrix<double>;
template struct operands<float>;
template struct operands<double>;

}  // namespace heptad::bench
