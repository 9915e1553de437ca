// SPDX-License-Identifier: BSD-3-Clause
#include "blas/rank_k.hpp"

#include <memory>
#include <new>

namespace heptad::blas {
namespace {

// A diagonal that is halved six times wastes less than 2 % of the work.
constexpr int most_halvings = 6;
// Over half of a classical product, of which the backend's syrk takes a seventh less. Where C is fresh memory, as
// NumPy's results are, promises of 1.23 (8192) and 1.39 (16384) on two cores ended in a loss of a tenth and a draw.
constexpr double least_gain_of_rank_k = 1.5;

bool can_halve(range rows) noexcept { return rows.count >= 2; }

range part(range whole, range of_it) noexcept { return {whole.begin + of_it.begin, of_it.count}; }

}  // namespace

template <typename T>
template <typename Beside, typename On>
void rank_k<T>::for_each_block(range rows, int halvings, Beside const& beside, On const& on) const {
  if (halvings == 0 || !can_halve(rows)) return on(rows);
  auto const [first, second] = halves(rows.count, upper_);
  range const f = part(rows, first), s = part(rows, second);
  // The largest first: fresh memory of C is then touched by all workers, not by the one that adds a diagonal.
  beside(s, f);
  for_each_block(f, halvings - 1, beside, on);
  for_each_block(s, halvings - 1, beside, on);
}

template <typename T>
std::optional<promise> rank_k<T>::promise_with(int halvings) {
  promise all;
  bool possible = true;
  auto const count = [&](range rows, range cols, bool beta_zero, int products) {
    auto const one = process_.promise_of<T>(
        product_shape(rows_of(A_, rows), rows_of(B_, cols).transposed(), beta_zero, block(C_, rows, cols)));
    possible = possible && one;
    if (one) all.seconds += products * one->seconds, all.workers = std::max(all.workers, one->workers);
  };
  for_each_block(
      {0, C_.rows}, halvings, [&](range s, range f) { count(s, f, false, two_products_ ? 2 : 1); },
      [&](range d) { count(d, d, true, 1); });
  auto const whole = process_.promise_of<T>(product_shape(A_, B_.transposed(), false, C_));
  if (!possible || !whole) return std::nullopt;
  all.classical_seconds = two_products_ ? whole->classical_seconds : whole->classical_seconds / 2;
  return all;
}

template <typename T>
bool rank_k<T>::pays(place where) {
  // The largest square decides whether there is anything to gain; it is also the cheapest question.
  auto const [f, s] = halves(C_.rows, upper_);
  if (!process_.pays<T>(product_shape(rows_of(A_, s), rows_of(B_, f).transposed(), false, block(C_, s, f)), where))
    return false;
  if (process_.how.forced_levels) {
    halvings_ = 2;
    return true;
  }
  std::optional<promise> best;
  for (int halvings = 1; halvings <= most_halvings; ++halvings) {
    auto const promised = promise_with(halvings);
    if (!promised || (best && promised->seconds >= best->seconds)) break;
    best = promised;
    halvings_ = halvings;
  }
  return best && best->classical_seconds >= least_gain_of_rank_k * best->seconds && process_.pays(*best, where);
}

template <typename T>
void rank_k<T>::run(T alpha, T beta) {
  for_each_block(
      {0, C_.rows}, halvings_,
      [&](range s, range f) {
        process_.multiply_in_any_case<T>(alpha, rows_of(A_, s), rows_of(B_, f).transposed(), beta, block(C_, s, f));
        if (two_products_)
          process_.multiply_in_any_case<T>(alpha, rows_of(B_, s), rows_of(A_, f).transposed(), T(1), block(C_, s, f));
      },
      [&](range d) { on_diagonal(alpha, d, beta); });
}

template <typename T>
void rank_k<T>::on_diagonal(T alpha, range d, T beta) {
  size const n = d.count;
  std::unique_ptr<T[]> const room(new (std::nothrow) T[static_cast<std::size_t>(n * n)]);
  if (room == nullptr) return by_backend(alpha, d, beta);
  if (!process_.multiply<T>(alpha, rows_of(A_, d), rows_of(B_, d).transposed(), T(0),
                            column_major(room.get(), n, n, std::max(size{1}, n))))
    return by_backend(alpha, d, beta);
  // Along the columns of what is stored; the transpose of a triangle is the other one.
  inout C = block(C_, d, d);
  bool const turned = storage_of(C).transposed;
  if (turned) C = C.transposed();
  bool const upper = upper_ != turned;
  for (size j = 0; j < n; ++j) {
    T* const column = C.data + j * C.col_stride;
    for (size i = upper ? 0 : j; i < (upper ? j + 1 : n); ++i) {
      T const computed = two_products_ ? room[j * n + i] + room[i * n + j] : room[j * n + i];
      column[i] = beta == T(0) ? computed : computed + beta * column[i];
    }
  }
}

/// As the caller would have had it, for one block of the diagonal.
template <typename T>
void rank_k<T>::by_backend(T alpha, range d, T beta) {
  in const A = rows_of(A_, d), B = rows_of(B_, d);
  inout const C = block(C_, d, d);
  auto const [ct, ldc] = storage_of(C);
  auto const [at, lda] = storage_of(A);
  char const triangle = triangle_flag(upper_ != ct), transposed = transpose_flag(at);
  auto const& backend = process_.backend_of<T>();
  if (two_products_) {
    backend.syr2k(triangle, transposed, C.rows, A.cols, alpha, A.data, lda, B.data, storage_of(B).ld, beta, C.data,
                  ldc);
  } else {
    backend.syrk(triangle, transposed, C.rows, A.cols, alpha, A.data, lda, beta, C.data, ldc);
  }
}

template class rank_k<double>;
template class rank_k<float>;

}  // namespace heptad::blas
