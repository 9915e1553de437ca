// SPDX-License-Identifier: BSD-3-Clause
// P A = L U and A = L Lᵀ in place.
#include "blas/factor.hpp"

#include "blas/panel.hpp"
#include "blas/rank_k.hpp"
#include "blas/recursive.hpp"
#include "blas/tbb/columns.hpp"

namespace heptad::blas {
namespace {

template <typename T>
class factorization {
public:
  explicit factorization(process& p) : process_(p), level3_(p), alone_(p, place::alone), lapack_(p.lapack_of<T>()) {}

  /// The product that updates what is right of and below the left half decides. Heptad's smaller products are no faster
  /// than the backend's LU, so on several workers that one must gain as much as one between calls of the backend.
  bool lu_pays(matrix_view<T> const& A) {
    auto const [left, right, below] = cut_lu(A);
    return process_.pays<T>(product_shape(block(A, below, left), block(A, left, right), false, block(A, below, right)),
                            place::between);
  }

  /// All by Heptad: between its products the backend's threads would take turns with Heptad's, which costs more than
  /// they bring. Pivots count from 1. The first column without a pivot, from 1; 0 when there is none.
  std::int32_t lu(matrix_view<T> const& A, std::int32_t* pivots) {
    size const rank = std::min(A.rows, A.cols);
    if (A.cols == rank && rank <= panel_width) return factor_panel(A, pivots);
    auto const [left, right, below] = cut_lu(A);
    std::int32_t const first = lu(A.block(0, 0, A.rows, left.count), pivots);
    swap_rows(A.block(0, right.begin, A.rows, right.count), pivots, left.count);
    matrix_view<T> const top_right = block(A, left, right);
    alone_.trsm(T(1), {block(A, left, left), false, true}, top_right);
    if (below.count == 0) return first;
    alone_.product(T(-1), block(A, below, left), top_right, T(1), block(A, below, right));
    std::int32_t* const later = pivots + left.count;
    std::int32_t const second = lu(block(A, below, right), later);
    auto const offset = static_cast<std::int32_t>(left.count);
    swap_rows(block(A, below, left), later, rank - left.count);
    for (size i = 0; i < rank - left.count; ++i) later[i] += offset;
    return first != 0 ? first : second != 0 ? second + offset : 0;
  }

  /// Row i and row pivots[i], for each i in turn.
  void swap_rows(matrix_view<T> const& A, std::int32_t const* pivots, size count) const {
    if (count == 0) return;
    constexpr size least_swaps = 1 << 14;  // to wake a worker for
    for_columns(process_.workers(), A.cols, std::max(size{1}, least_swaps / count), [&](size begin, size end) {
      for (size j = begin; j < end; ++j) {
        T* const column = A.data + j * A.col_stride;
        for (size i = 0; i < count; ++i) std::swap(column[i], column[pivots[i] - 1]);
      }
    });
  }

  bool cholesky_pays(matrix_view<T> const& A) { return trailing_update(A).pays(place::between); }

  /// The lower triangle of a view. The first leading minor that is not positive, from 1; 0 when all are.
  std::int32_t cholesky(matrix_view<T> const& A) {
    rank_k<T> update = trailing_update(A);
    if (!update.pays(place::between)) {
      auto const [transposed, ld] = storage_of(A);
      std::int32_t info = 0;
      lapack_.potrf(triangle_flag(transposed), A.rows, A.data, ld, &info);
      return info;
    }
    auto const [first, second] = halves(A.rows, false);
    if (std::int32_t const info = cholesky(block(A, first, first)); info != 0) return info;
    matrix_view<T> const beside = block(A, second, first);
    // L₂₁ L₁₁ᵀ = A₂₁
    level3_.trsm(T(1), {block(A, first, first), false}, beside.transposed());
    update.run(T(-1), T(1));
    std::int32_t const info = cholesky(block(A, second, second));
    return info == 0 ? 0 : info + static_cast<std::int32_t>(first.count);
  }

private:
  struct lu_ranges {
    range left, right, below;
  };
  static lu_ranges cut_lu(matrix_view<T> const& A) {
    size const rank = std::min(A.rows, A.cols), left = rank <= panel_width ? rank : cut(rank);
    return {{0, left}, {left, A.cols - left}, {left, A.rows - left}};
  }

  /// A₂₂ := A₂₂ - L₂₁ L₂₁ᵀ
  rank_k<T> trailing_update(matrix_view<T> const& A) {
    auto const [first, second] = halves(A.rows, false);
    return {process_, block(A, second, first), block(A, second, second), false};
  }

  process& process_;
  recursive<T> level3_, alone_;
  factorizations<T> const& lapack_;
};

}  // namespace

template <typename T>
bool getrf(size m, size n, T* a, size lda, std::int32_t* pivots, std::int32_t* info) {
  process& p = this_process();
  if (!p.considers<T>(routine_id::getrf, multiplications(m, n, std::min(m, n)) / 4) || m < 0 || n < 0 || lda < m) {
    return p.pass_on<T>(routine_id::getrf);
  }
  return p.carry<T>(routine_id::getrf, {m, n, 0}, [&] {
    factorization<T> by_halves(p);
    auto const A = column_major(a, m, n, lda);
    if (!by_halves.lu_pays(A)) return false;
    among_products(p.workers(), [&] { *info = by_halves.lu(A, pivots); });
    return true;
  });
}

template <typename T>
bool potrf(char uplo, size n, T* a, size lda, std::int32_t* info) {
  process& p = this_process();
  bool const upper = uplo == 'U' || uplo == 'u', lower = uplo == 'L' || uplo == 'l';
  if (!p.considers<T>(routine_id::potrf, multiplications(n, n, n) / 8) || (!upper && !lower) || lda < n) {
    return p.pass_on<T>(routine_id::potrf);
  }
  return p.carry<T>(routine_id::potrf, {0, n, 0}, [&] {
    factorization<T> by_halves(p);
    auto const A = operand(a, lda, upper, n, n);
    if (!by_halves.cholesky_pays(A)) return false;
    *info = by_halves.cholesky(A);
    return true;
  });
}

template <typename T>
bool gesv(size n, size nrhs, T* a, size lda, std::int32_t* pivots, T* b, size ldb, std::int32_t* info) {
  process& p = this_process();
  if (!p.considers<T>(routine_id::gesv, multiplications(n, n, n) / 4) || nrhs < 0 || lda < n || ldb < n) {
    return p.pass_on<T>(routine_id::gesv);
  }
  return p.carry<T>(routine_id::gesv, {0, n, nrhs}, [&] {
    factorization<T> by_halves(p);
    auto const A = column_major(a, n, n, lda), B = column_major(b, n, nrhs, ldb);
    if (!by_halves.lu_pays(A)) return false;
    among_products(p.workers(), [&] {
      *info = by_halves.lu(A, pivots);
      if (*info == 0) by_halves.swap_rows(B, pivots, n);
    });
    if (*info != 0) return true;
    recursive<T> level3(p);
    level3.trsm(T(1), {A, false, true}, B);
    level3.trsm(T(1), {A, true}, B);
    return true;
  });
}

#define HEPTAD_FOR(T)                                                      \
  template bool getrf(size, size, T*, size, std::int32_t*, std::int32_t*); \
  template bool potrf(char, size, T*, size, std::int32_t*);                \
  template bool gesv(size, size, T*, size, std::int32_t*, T*, size, std::int32_t*);
HEPTAD_FOR(double)
HEPTAD_FOR(float)
#undef HEPTAD_FOR

}  // namespace heptad::blas
