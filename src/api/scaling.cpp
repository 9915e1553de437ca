// SPDX-License-Identifier: BSD-3-Clause
#include "src/api/scaling.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "codelets/cpu/scan.hpp"
#include "src/matrix/orientation.hpp"

namespace heptad {
namespace {

// Exponents so that 2^e and 2^-e are normal numbers. Larger ones would be needed only for subnormal lines.
template <typename T>
constexpr int largest_exponent = std::numeric_limits<T>::max_exponent - 4;

template <typename T>
int limited(int exponent) {
  return std::clamp(exponent, -largest_exponent<T>, largest_exponent<T>);
}

/// Of a line of zeros: the levels leave rounding errors where it meets C, which become zeros again.
constexpr int no_exponent = std::numeric_limits<int>::max();

/// Exponents that bring lines of these magnitudes to [1, 2).
template <typename T>
std::vector<int> unit_exponents(std::pmr::vector<T> const& largest) {
  std::vector<int> exponents;
  for (T const x : largest) exponents.push_back(x == 0 ? no_exponent : limited<T>(-std::ilogb(x)));
  return exponents;
}

/// Exponents of F: column l of A and row l of B get the same size.
template <typename T>
std::vector<int> balancing_exponents(std::pmr::vector<T> const& columns_of_A, std::pmr::vector<T> const& rows_of_B) {
  std::vector<int> exponents;
  for (std::size_t l = 0; l < columns_of_A.size(); ++l) {
    T const a = columns_of_A[l], b = rows_of_B[l];
    exponents.push_back(a == 0 || b == 0 ? 0 : limited<T>((std::ilogb(b) - std::ilogb(a)) / 2));
  }
  return exponents;
}

template <typename T>
std::vector<T> powers(std::vector<int> const& exponents, int sign) {
  std::vector<T> factors;
  for (int const e : exponents) factors.push_back(e == no_exponent ? T(sign > 0 ? 1 : 0) : std::ldexp(T(1), sign * e));
  return factors;
}

/// Y := diag(rows) X diag(cols), by lines of Y. Y may be X.
template <typename T>
void scale_lines(matrix_view<T const> const& X, std::vector<T> const& rows, std::vector<T> const& cols,
                 matrix_view<T> const& Y) {
  bool const by_columns = orientation_of(Y) == orientation::column_major;
  std::int64_t const lines = by_columns ? X.cols : X.rows, length = by_columns ? X.rows : X.cols;
  std::int64_t const step = by_columns ? X.row_stride : X.col_stride;
  std::vector<T> const& along = by_columns ? rows : cols;
  std::vector<T> const& across = by_columns ? cols : rows;
  for (std::int64_t line = 0; line < lines; ++line) {
    T const* const from = X.data + line * (by_columns ? X.col_stride : X.row_stride);
    T* const to = Y.data + line * (by_columns ? Y.col_stride : Y.row_stride);
    T const factor = across[static_cast<std::size_t>(line)];
    for (std::int64_t i = 0; i < length; ++i) to[i] = from[i * step] * along[static_cast<std::size_t>(i)] * factor;
  }
}

template <typename T>
magnitudes<T> magnitudes_of(matrix_view<T> const& X) {
  magnitudes<T> result;
  result.rows.assign(static_cast<std::size_t>(X.rows), T(0));
  result.cols.assign(static_cast<std::size_t>(X.cols), T(0));
  cpu::scan<T>(X.data, X.rows, X.cols, X.row_stride, X.col_stride, result.rows.data(), result.cols.data());
  result.find_largest();
  return result;
}

/// log2 of the largest over the least of those that are not zero.
template <typename T>
double spread(std::pmr::vector<T> const& largest) {
  T least = std::numeric_limits<T>::infinity(), most = 0;
  for (T const x : largest) {
    if (x != 0) least = std::min(least, x);
    most = std::max(most, x);
  }
  return most > least ? std::log2(static_cast<double>(most)) - std::log2(static_cast<double>(least)) : 0;
}

/// log2 of max |A| max |B| over what inside scaling would make of it. Of zeros there is no logarithm: that would raise
/// the flag of a division by zero, which NumPy warns of.
template <typename T>
double inside_gain(magnitudes<T> const& A, magnitudes<T> const& B) {
  if (A.largest == 0 || B.largest == 0) return 0;
  double most = -HUGE_VAL;
  for (std::size_t l = 0; l < A.cols.size(); ++l) {
    if (A.cols[l] == 0 || B.rows[l] == 0) continue;
    most = std::max(most, std::log2(static_cast<double>(A.cols[l])) + std::log2(static_cast<double>(B.rows[l])));
  }
  double const now = std::log2(static_cast<double>(A.largest)) + std::log2(static_cast<double>(B.largest));
  return std::isfinite(most) && std::isfinite(now) ? now - most : 0;
}

template <typename T>
std::pmr::vector<T> no_lines(std::int64_t count, std::pmr::memory_resource* memory) {
  return std::pmr::vector<T>(static_cast<std::size_t>(count), T(0), memory);
}

/// A scan of a few rows or columns. Across the lines in memory it comes faster where a group of them is asked for
/// early; larger groups would meet in few sets of the caches.
template <typename T>
void look(matrix_view<T const> const& X, T* of_rows, T* of_cols) {
  constexpr std::int64_t group = 32;
  bool const by_rows = X.col_stride == 1 && X.rows > X.cols, by_cols = X.row_stride == 1 && X.cols > X.rows;
  if (!by_rows && !by_cols) return cpu::scan(X.data, X.rows, X.cols, X.row_stride, X.col_stride, of_rows, of_cols);
  std::int64_t const lines = by_rows ? X.rows : X.cols, step = by_rows ? X.row_stride : X.col_stride;
  for (std::int64_t first = 0; first < lines; first += group) {
    std::int64_t const count = std::min(group, lines - first), next = std::min(first + 2 * group, lines);
    for (std::int64_t line = first + group; line < next; ++line) __builtin_prefetch(X.data + line * step, 0, 2);
    if (by_rows) cpu::scan(X.data + first * step, count, X.cols, step, 1, of_rows + first, of_cols);
    else cpu::scan(X.data + first * step, X.rows, count, 1, step, of_rows, of_cols + first);
  }
}

struct copies {
  std::int64_t lda, ldb, ldp;  // of the contiguous lines
  std::size_t a, b, product;   // elements
};

template <typename T>
copies lay_out(operands<T> const& x, scaling_kind kind) {
  auto const line = [](auto const& X) { return orientation_of(X) == orientation::column_major ? X.rows : X.cols; };
  auto const lines = [](auto const& X) { return orientation_of(X) == orientation::column_major ? X.cols : X.rows; };
  constexpr std::int64_t bytes = sizeof(T);
  copies c{padded_leading_dimension(line(x.A), bytes),
           padded_leading_dimension(line(x.B), bytes),
           padded_leading_dimension(x.C.rows, bytes),
           0,
           0,
           0};
  c.a = static_cast<std::size_t>(c.lda * lines(x.A));
  c.b = static_cast<std::size_t>(c.ldb * lines(x.B));
  if (scales_back(kind) && x.beta != T(0)) c.product = static_cast<std::size_t>(c.ldp * x.C.cols);
  return c;
}

}  // namespace

template <typename T>
scaling_kind choose_scaling(scaling_kind wish, magnitudes<T> const& A, magnitudes<T> const& B) {
  if (wish != scaling_kind::automatic) return wish;
  double const worth = std::log2(spread_worth_scaling);
  bool const outside = std::max(spread(A.rows), spread(B.cols)) > worth;
  bool const inside = inside_gain(A, B) > worth;
  return outside && inside ? scaling_kind::both
         : outside         ? scaling_kind::outside
         : inside          ? scaling_kind::inside
                           : scaling_kind::none;
}

template <typename T>
operand_sample<T>::operand_sample(operands<T> const& x, std::pmr::memory_resource* memory)
    : line_(std::min<std::int64_t>(x.A.cols, 64 / sizeof(T))),
      A_{no_lines<T>(x.A.rows, memory), no_lines<T>(2 * line_, memory)},
      B_{no_lines<T>(2 * line_, memory), no_lines<T>(x.B.cols, memory)} {
  for (std::int64_t const end : {0, 1}) {
    std::int64_t const first = end * (x.A.cols - line_);
    look(x.A.block(0, first, x.A.rows, line_), A_.rows.data(), A_.cols.data() + end * line_);
    look(x.B.block(first, 0, line_, x.B.cols), B_.rows.data() + end * line_, B_.cols.data());
    auto const nothing = [](std::pmr::vector<T> const& lines) { return std::ranges::find(lines, T(0)) != lines.end(); };
    if (!nothing(A_.rows) && !nothing(B_.cols)) break;  // else there may be triangles: the other end has something
  }
  A_.find_largest();
  B_.find_largest();
}

template <typename T>
bool operand_sample<T>::rules_out_scaling(T largest_A, T largest_B) const noexcept {
  constexpr int near = 9;  // 2^9, half of what is worth scaling: far from where rounding decides
  static_assert(2 << near >= spread_worth_scaling && 1 << near < 0.6 * spread_worth_scaling);
  auto const are_near = [](std::pmr::vector<T> const& lines, T largest) {
    T const least = std::ldexp(largest, -near);
    return std::ranges::all_of(lines, [&](T const x) { return least <= x; });
  };
  // Whether a column of A and its row of B have a product near the largest. By exponents, which raise no flags.
  auto const meet = [&] {
    int const least = std::ilogb(largest_A) + std::ilogb(largest_B) + 2 - near;
    for (std::size_t l = 0; l < A_.cols.size(); ++l)
      if (A_.cols[l] != 0 && B_.rows[l] != 0 && std::ilogb(A_.cols[l]) + std::ilogb(B_.rows[l]) >= least) return true;
    return false;
  };
  return are_near(A_.rows, largest_A) && are_near(B_.cols, largest_B) && meet();
}

double bound_after(scaling_kind kind) { return kind == scaling_kind::none ? 1 : kind == scaling_kind::both ? 16 : 4; }

template <typename T>
std::size_t scaled_copy_bytes(operands<T> const& x, scaling_kind kind) {
  copies const c = lay_out(x, kind);
  return (c.a + c.b + c.product) * sizeof(T);
}

template <typename T>
scaled_operands<T>::scaled_operands(operands<T> const& x, scaling_kind kind, magnitudes<T> const& A,
                                    magnitudes<T> const& B, memory_pool::lease memory)
    : given_(x), memory_(std::move(memory)), product_(x) {
  copies const c = lay_out(x, kind);
  T* const first = reinterpret_cast<T*>(memory_.data());
  auto const view = [](auto const& X, T* data, std::int64_t ld) {
    return orientation_of(X) == orientation::column_major ? column_major(data, X.rows, X.cols, ld)
                                                          : row_major(data, X.rows, X.cols, ld);
  };
  matrix_view<T> const scaled_A = view(x.A, first, c.lda), scaled_B = view(x.B, first + c.a, c.ldb);
  product_.A = scaled_A;
  product_.B = scaled_B;

  bool const outside = scales_back(kind);
  std::vector<T> const no_rows(A.rows.size(), T(1)), no_cols(B.cols.size(), T(1)), no_inner(A.cols.size(), T(1));
  magnitudes<T> of_A = A, of_B = B;
  if (outside) {
    rows_ = unit_exponents(A.rows);
    cols_ = unit_exponents(B.cols);
    back_of_rows_ = powers<T>(rows_, -1);
    back_of_cols_ = powers<T>(cols_, -1);
    scale_lines(x.A, powers<T>(rows_, 1), no_inner, scaled_A);
    scale_lines(x.B, no_inner, powers<T>(cols_, 1), scaled_B);
    of_A = magnitudes_of(scaled_A);
    of_B = magnitudes_of(scaled_B);
    if (c.product > 0) product_.C = column_major(first + c.a + c.b, x.C.rows, x.C.cols, c.ldp);
    product_.beta = T(0);
  }
  if (kind == scaling_kind::inside || kind == scaling_kind::both) {
    std::vector<int> const inner = balancing_exponents(of_A.cols, of_B.rows);
    matrix_view<T const> const from_A = outside ? product_.A : x.A, from_B = outside ? product_.B : x.B;
    scale_lines(from_A, no_rows, powers<T>(inner, 1), scaled_A);
    scale_lines(from_B, powers<T>(inner, -1), no_cols, scaled_B);
    of_A = magnitudes_of(scaled_A);
    of_B = magnitudes_of(scaled_B);
  }
  largest_A_ = of_A.largest;
  largest_B_ = of_B.largest;
}

template <typename T>
void scaled_operands<T>::finish() const noexcept {
  if (rows_.empty()) return;
  matrix_view<T> const &C = given_.C, &P = product_.C;
  std::vector<T> const &rows = back_of_rows_, &cols = back_of_cols_;
  for (std::int64_t j = 0; j < C.cols; ++j)
    for (std::int64_t i = 0; i < C.rows; ++i) {
      T const p = P.data[i * P.row_stride + j * P.col_stride];
      auto const row = static_cast<std::size_t>(i), col = static_cast<std::size_t>(j);
      T const factor = rows[row] * cols[col];
      T x = factor * p;
      // The factor of both may be no normal number where x is one.
      if (!std::isnormal(factor) && rows[row] != 0 && cols[col] != 0) x = std::ldexp(p, -rows_[row] - cols_[col]);
      T& c = C.data[i * C.row_stride + j * C.col_stride];
      c = given_.beta == T(0) ? x : x + given_.beta * c;
    }
}

#define HEPTAD_FOR(T)                                                                             \
  template scaling_kind choose_scaling(scaling_kind, magnitudes<T> const&, magnitudes<T> const&); \
  template std::size_t scaled_copy_bytes(operands<T> const&, scaling_kind);                       \
  template class operand_sample<T>;                                                               \
  template class scaled_operands<T>;
HEPTAD_FOR(double)
HEPTAD_FOR(float)
#undef HEPTAD_FOR

}  // namespace heptad
