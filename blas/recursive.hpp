// SPDX-License-Identifier: BSD-3-Clause
// Level 3 and the factorizations by halves: each half again, and a product between them, until that product would not
// pay; the rest is the backend's (Gustavson 1997; Elmroth et al. 2004). As one rule serves both triangles, `upper`
// says which half comes first: see halves(). All views; every routine has the formula it computes. rank_k.hpp has syrk
// and syr2k.
#pragma once

#include "blas/blocks.hpp"
#include "blas/process.hpp"

namespace heptad::blas {

template <typename T>
class recursive {
public:
  using in = matrix_view<T const>;
  using inout = matrix_view<T>;

  /// alone: nothing is left to the backend, not even what is small; product and trsm only.
  explicit recursive(process& p, place where = place::between) noexcept
      : process_(p), backend_(p.backend_of<T>()), where_(where) {}

  /// A matrix of which one triangle is stored, or is all there is.
  struct triangle {
    in elements;
    bool upper;
    bool unit = false;  // ones on the diagonal, which is not stored
  };

  /// The product between the halves of each routine pays. No other calls are worth it.
  bool symm_pays(triangle const& A, in B, inout C);
  bool triangle_pays(triangle const& A, inout B);  // trmm and trsm

  void product(T alpha, in A, in B, T beta, inout C);            // C := alpha A B + beta C
  void symm(T alpha, triangle const& A, in B, T beta, inout C);  // C := alpha A B + beta C, A symmetric
  void trmm(T alpha, triangle const& A, inout B);                // B := alpha A B
  void trsm(T alpha, triangle const& A, inout B);                // B := alpha A⁻¹ B

private:
  /// trmm or trsm of the backend.
  static void pass(typename level3<T>::triangular const& routine, T alpha, triangle const& A, inout const& B);
  static triangle half(triangle const& A, range i) noexcept { return {block(A.elements, i, i), A.upper, A.unit}; }

  /// B := alpha A⁻¹ B, the few rows of B multiplied by the inverse of A.
  void solve_by_inverse(T alpha, triangle const& A, inout B);

  process& process_;
  level3<T> const& backend_;
  place where_;
};

}  // namespace heptad::blas
