// SPDX-License-Identifier: BSD-3-Clause
// Draw, call, judge. Elements that must not be touched (below the last row, the other triangle) hold NaN, and are
// compared bit by bit; so is everything when a rule is broken.
#include "tests/fuzz/factor_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "tests/fuzz/blas.hpp"
#include "tests/fuzz/call_case.hpp"

namespace heptad::fuzz {
namespace {

constexpr double threshold = 30;

template <typename T>
struct stored_matrix {
  int rows, cols, ld;
  std::vector<T> data;

  stored_matrix(stream& r, int m, int n) : rows(m), cols(n), ld(std::max(1, m) + (r.one_in(3) ? r.below(6) : 0)) {
    data.assign(static_cast<std::size_t>(ld) * static_cast<std::size_t>(n) + 1, std::numeric_limits<T>::quiet_NaN());
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < m; ++i) at(i, j) = static_cast<T>(r.uniform());
    }
  }
  T& at(int i, int j) {
    return data[static_cast<std::size_t>(j) * static_cast<std::size_t>(ld) + static_cast<std::size_t>(i)];
  }
  T at(int i, int j) const { return const_cast<stored_matrix*>(this)->at(i, j); }
  [[nodiscard]] bool same_bits(stored_matrix const& other) const {
    return std::memcmp(data.data(), other.data.data(), data.size() * sizeof(T)) == 0;
  }
  [[nodiscard]] bool same_bits(stored_matrix const& other, int i, int j) const {
    T const x = at(i, j), y = other.at(i, j);
    return std::memcmp(&x, &y, sizeof(T)) == 0;
  }
  [[nodiscard]] bool finite() const {
    for (int j = 0; j < cols; ++j) {
      for (int i = 0; i < rows; ++i) {
        if (!std::isfinite(at(i, j))) return false;
      }
    }
    return true;
  }
};

/// The largest sum of the absolute values of a column.
template <typename Element>
double one_norm(int rows, int cols, Element const& element) {
  double largest = 0;
  for (int j = 0; j < cols; ++j) {
    double sum = 0;
    for (int i = 0; i < rows; ++i) sum += std::abs(static_cast<double>(element(i, j)));
    largest = sum <= largest ? largest : sum;  // NaN stays
  }
  return largest;
}

template <typename T>
double one_norm(stored_matrix<T> const& X) {
  return one_norm(X.rows, X.cols, [&](int i, int j) { return X.at(i, j); });
}

template <typename T>
class factor_case {
public:
  factor_case(stream& r, factorization what, factor_kind kind, double largest)
      : what_(what),
        kind_(kind),
        A_(drawn(r, what, largest)),
        B_(r, A_.rows, what == factorization::gesv ? 1 + r.below(20) : 0) {
    int const least = std::min(A_.rows, A_.cols);
    if (what == factorization::potrf) make_positive(r);
    if (least > 0 && !kind.special && r.one_in(10)) make_singular(r.below(A_.cols));
    if (least > 0 && kind.special) {
      constexpr T infinity = std::numeric_limits<T>::infinity();
      int const i = r.below(least);
      A_.at(i, i) = r.one_in(2) ? infinity : std::numeric_limits<T>::quiet_NaN();
    }
    pivots_.assign(static_cast<std::size_t>(least) + 1, -7);
  }

  std::string run(stream& r) {
    stored_matrix<T> F = A_, X = B_;
    int m = A_.rows, n = A_.cols, columns = B_.cols, lda = A_.ld, ldb = B_.ld, info = -100, expected = 0;
    char triangle = upper_ ? r.of("Uu") : r.of("Ll");
    if (kind_.broken) expected = break_rule(r, m, n, columns, lda, ldb, triangle);
    switch (what_) {
      case factorization::getrf:
        ours<T>::getrf(&m, &n, F.data.data(), &lda, pivots_.data(), &info);
        break;
      case factorization::potrf:
        ours<T>::potrf(&triangle, &n, F.data.data(), &lda, &info);
        break;
      case factorization::gesv:
        ours<T>::gesv(&n, &columns, F.data.data(), &lda, pivots_.data(), X.data.data(), &ldb, &info);
    }
    int const reported = take_reported();
    std::string wrong;
    if (kind_.broken) {
      if (info != expected || reported != -expected) wrong = fmt::format("info {}, xerbla was told {}", info, reported);
      else if (!F.same_bits(A_) || !X.same_bits(B_)) wrong = "something was touched";
    } else if (reported != 0) wrong = fmt::format("xerbla was told {}", reported);
    else if (what_ == factorization::potrf) wrong = judge_cholesky(F, info);
    else wrong = judge_lu(F, info);
    if (wrong.empty() && what_ == factorization::gesv && !kind_.broken) wrong = judge_solution(X, info);
    if (wrong.empty()) return wrong;
    return fmt::format("m={} n={} columns={} lda={} ldb={} {}{}: {}", m, n, columns, lda, ldb, triangle,
                       kind_.special    ? " with NaN or Inf"
                       : singular_ >= 0 ? " singular"
                                        : "",
                       wrong);
  }

private:
  static stored_matrix<T> drawn(stream& r, factorization what, double largest) {
    int m = draw_size(r), n = what == factorization::getrf ? draw_size(r) : m;
    while (static_cast<double>(m) * n * std::min(m, n) > largest) {
      (m >= n ? m : n) /= 2;
      if (what != factorization::getrf) n = m = std::min(m, n);
    }
    return {r, m, n};
  }

  /// Only a triangle is stored; the diagonal outweighs it.
  void make_positive(stream& r) {
    upper_ = r.one_in(2);
    for (int j = 0; j < A_.cols; ++j) {
      for (int i = 0; i < A_.rows; ++i) {
        if (i == j) A_.at(i, j) += static_cast<T>(A_.rows + 1);
        else if ((i < j) != upper_) A_.at(i, j) = std::numeric_limits<T>::quiet_NaN();
      }
    }
  }

  /// A column of zeros, or a leading minor that is not positive.
  void make_singular(int column) {
    singular_ = column;
    if (what_ == factorization::potrf) A_.at(column, column) = T(-1);
    else
      for (int i = 0; i < A_.rows; ++i) A_.at(i, column) = T(0);
  }

  /// The info that is expected then.
  int break_rule(stream& r, int& m, int& n, int& columns, int& lda, int& ldb, char& triangle) const {
    int const which = r.below(4);
    if (which == 0) return lda = 0, -4;
    switch (what_) {
      case factorization::getrf:
        if (which == 1) return m = -1, -1;
        return n = -1, -2;
      case factorization::potrf:
        if (which == 1) return triangle = 'X', -1;
        return n = -1, -2;
      default:
        if (which == 1) return n = -1, -1;
        if (which == 2) return columns = -1, -2;
        return ldb = 0, -7;
    }
  }

  /// Row i and row pivots[i], for each i in turn; false when a pivot is no row below.
  bool swap_rows(stored_matrix<T>& X) const {
    for (int i = 0; i < std::min(A_.rows, A_.cols); ++i) {
      int const p = pivots_[static_cast<std::size_t>(i)] - 1;
      if (p < i || p >= A_.rows) return false;
      for (int j = 0; j < X.cols; ++j) std::swap(X.at(i, j), X.at(p, j));
    }
    return true;
  }

  std::string judge_lu(stored_matrix<T> const& F, int info) const {
    int const m = A_.rows, n = A_.cols, rank = std::min(m, n);
    for (int j = 0; j < n; ++j) {
      for (int i = m; i < F.ld; ++i) {
        if (!F.same_bits(A_, i, j)) return fmt::format("element ({}, {}) must not be written", i, j);
      }
    }
    stored_matrix<T> PA = A_;
    if (!swap_rows(PA)) return "a pivot is no row";
    if (pivots_.back() != -7) return "more pivots than columns or rows";
    if (kind_.special && rank > 0) return F.finite() ? "NaN or Inf is lost" : "";
    // A pivot that is 0 by the classical algorithm may be a rounding error of a fast one.
    int const expected = singular_ < rank ? singular_ + 1 : 0;
    if (info != expected && (info != 0 || by_classical_algorithm()))
      return fmt::format("info {}, not {}", info, expected);
    for (int j = 0; j < rank; ++j) {
      for (int i = j + 1; i < m; ++i) {
        if (!(std::abs(F.at(i, j)) <= 1 + 100 * std::numeric_limits<T>::epsilon()))
          return fmt::format("multiplier ({}, {}) is {}", i, j, F.at(i, j));
      }
    }
    return below_threshold("P A - L U",
                           one_norm(m, n,
                                    [&](int i, int j) {
                                      long double sum = 0;
                                      for (int l = 0; l <= std::min({i, j, rank - 1}); ++l)
                                        sum += static_cast<long double>(l == i ? T(1) : F.at(i, l)) * F.at(l, j);
                                      return sum - PA.at(i, j);
                                    }),
                           one_norm(A_), n);
  }

  std::string judge_cholesky(stored_matrix<T> const& F, int info) const {
    int const n = A_.cols;
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < F.ld; ++i) {
        if ((i >= n || (i != j && (i < j) != upper_)) && !F.same_bits(A_, i, j))
          return fmt::format("element ({}, {}) must not be written", i, j);
      }
    }
    if (kind_.special && n > 0) return {};  // LAPACK promises nothing
    if (info != singular_ + 1) return fmt::format("info {}", info);
    if (info != 0) return {};
    auto const lower = [this](stored_matrix<T> const& X, int i, int j) { return upper_ ? X.at(j, i) : X.at(i, j); };
    return below_threshold("L L^T - A",
                           one_norm(n, n,
                                    [&](int i, int j) {
                                      auto const [high, low] = std::minmax(i, j);
                                      long double sum = 0;
                                      for (int l = 0; l <= high; ++l)
                                        sum += static_cast<long double>(lower(F, low, l)) * lower(F, high, l);
                                      return sum - lower(A_, low, high);
                                    }),
                           one_norm(n, n, [&](int i, int j) { return lower(A_, std::max(i, j), std::min(i, j)); }), n);
  }

  std::string judge_solution(stored_matrix<T> const& X, int info) const {
    int const n = A_.cols;
    if (kind_.special && n > 0) return {};
    if (info != 0) return X.same_bits(B_) ? "" : "B was touched";
    if (singular_ >= 0) return {};
    for (int j = 0; j < X.cols; ++j) {
      auto const residual = one_norm(n, 1, [&](int i, int) {
        long double sum = 0;
        for (int l = 0; l < n; ++l) sum += static_cast<long double>(A_.at(i, l)) * X.at(l, j);
        return sum - B_.at(i, j);
      });
      auto const of_solution = one_norm(n, 1, [&](int i, int) { return X.at(i, j); });
      if (auto wrong = below_threshold("A X - B", residual, one_norm(A_) * of_solution, n); !wrong.empty())
        return wrong;
    }
    return {};
  }

  static std::string below_threshold(char const* what, double residual, double norms, int n) {
    double const unit = std::numeric_limits<T>::epsilon() / 2;
    if (residual <= threshold * n * norms * unit) return {};
    return fmt::format("|{}| is {:.3g}, {:.3g} of n eps norms", what, residual, residual / (n * norms * unit));
  }

  factorization what_;
  factor_kind kind_;
  stored_matrix<T> A_, B_;
  std::vector<int> pivots_;
  bool upper_ = false;
  int singular_ = -1;  // the column of zeros, or the order of the minor less one
};

}  // namespace

template <typename T>
std::string run_factorization(stream& r, factorization what, factor_kind kind, double largest) {
  return factor_case<T>(r, what, kind, largest).run(r);
}
template std::string run_factorization<double>(stream&, factorization, factor_kind, double);
template std::string run_factorization<float>(stream&, factorization, factor_kind, double);

}  // namespace heptad::fuzz
