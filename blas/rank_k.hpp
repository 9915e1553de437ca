// SPDX-License-Identifier: BSD-3-Clause
// syrk and syr2k as products of Heptad's alone. One triangle of C is cut into squares, large ones far from the diagonal
// and smaller ones towards it. What is left on the diagonal is computed whole: that wastes half of it, but between
// calls of the backend its threads would take turns with Heptad's, which costs more.
#pragma once

#include "blas/blocks.hpp"
#include "blas/process.hpp"

namespace heptad::blas {

template <typename T>
class rank_k {
public:
  using in = matrix_view<T const>;
  using inout = matrix_view<T>;

  /// The triangle of C := alpha A Aᵀ + beta C.
  rank_k(process& p, in A, inout C, bool upper) : rank_k(p, A, A, false, C, upper) {}
  /// The triangle of C := alpha (A Bᵀ + B Aᵀ) + beta C.
  rank_k(process& p, in A, in B, inout C, bool upper) : rank_k(p, A, B, true, C, upper) {}

  /// Does it promise enough? Decides how often the diagonal is halved.
  bool pays(place where);
  void run(T alpha, T beta);

private:
  rank_k(process& p, in A, in B, bool two_products, inout C, bool upper)
      : process_(p), A_(A), B_(B), C_(C), two_products_(two_products), upper_(upper) {}

  /// beside(s, f) for every square between two ranges of indices, on(d) for every one on the diagonal.
  template <typename Beside, typename On>
  void for_each_block(range rows, int halvings, Beside const& beside, On const& on) const;
  std::optional<promise> promise_with(int halvings);
  void on_diagonal(T alpha, range d, T beta);
  void by_backend(T alpha, range d, T beta);

  process& process_;
  in A_, B_;
  inout C_;
  bool two_products_, upper_;
  int halvings_ = 0;
};

}  // namespace heptad::blas
