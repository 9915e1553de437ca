// SPDX-License-Identifier: BSD-3-Clause
// The recursions. `f` is the half that comes first and `s` the second one; block (s, f) is the one beside the diagonal
// that is stored, in either triangle.
#include "blas/recursive.hpp"

#include <array>

#include "blas/tbb/columns.hpp"

namespace heptad::blas {
namespace {

constexpr size inverted = 32;  // rows of a triangle whose inverse is a product's factor

}  // namespace

template <typename T>
void recursive<T>::product(T alpha, in A, in B, T beta, inout C) {
  bool const ours = where_ == place::alone || process_.pays<T>(product_shape(A, B, beta == T(0), C), where_);
  if (ours) process_.multiply_in_any_case(alpha, A, B, beta, C);
  else process_.multiply_by_backend(alpha, A, B, beta, C);
}

template <typename T>
bool recursive<T>::symm_pays(triangle const& A, in B, inout C) {
  auto const [f, s] = halves(C.rows, A.upper);
  return process_.pays<T>(product_shape(block(A.elements, s, f), rows_of(B, f), false, rows_of(C, s)), place::between);
}

template <typename T>
void recursive<T>::symm(T alpha, triangle const& A, in B, T beta, inout C) {
  if (!symm_pays(A, B, C)) {
    // C is on the left of what it is stored as, or its transpose on the right.
    bool const right = storage_of(C).transposed;
    bool const upper = A.upper != storage_of(A.elements).transposed;
    inout const stored = right ? C.transposed() : C;
    return backend_.symm(right ? 'R' : 'L', triangle_flag(upper), stored.rows, stored.cols, alpha, A.elements.data,
                         storage_of(A.elements).ld, B.data, storage_of(B).ld, beta, C.data, storage_of(C).ld);
  }
  auto const [f, s] = halves(C.rows, A.upper);
  in const beside = block(A.elements, s, f);
  symm(alpha, half(A, f), rows_of(B, f), beta, rows_of(C, f));
  product(alpha, beside.transposed(), rows_of(B, s), T(1), rows_of(C, f));
  symm(alpha, half(A, s), rows_of(B, s), beta, rows_of(C, s));
  product(alpha, beside, rows_of(B, f), T(1), rows_of(C, s));
}

// A row-major B is the column-major Bᵀ, which A multiplies from the right, transposed.
template <typename T>
void recursive<T>::pass(typename level3<T>::triangular const& routine, T alpha, triangle const& A, inout const& B) {
  bool const right = storage_of(B).transposed, stored_transposed = storage_of(A.elements).transposed;
  inout const stored = right ? B.transposed() : B;
  routine(right ? 'R' : 'L', triangle_flag(A.upper != stored_transposed), transpose_flag(right != stored_transposed),
          A.unit ? 'U' : 'N', stored.rows, stored.cols, alpha, A.elements.data, storage_of(A.elements).ld, B.data,
          storage_of(B).ld);
}

template <typename T>
bool recursive<T>::triangle_pays(triangle const& A, inout B) {
  auto const [f, s] = halves(B.rows, A.upper);
  return process_.pays<T>(product_shape(block(A.elements, s, f), rows_of(B, f), false, rows_of(B, s)), place::between);
}

template <typename T>
void recursive<T>::trmm(T alpha, triangle const& A, inout B) {
  if (!triangle_pays(A, B)) return pass(backend_.trmm, alpha, A, B);
  auto const [f, s] = halves(B.rows, A.upper);
  trmm(alpha, half(A, s), rows_of(B, s));
  product(alpha, block(A.elements, s, f), rows_of(B, f), T(1), rows_of(B, s));
  trmm(alpha, half(A, f), rows_of(B, f));
}

template <typename T>
void recursive<T>::trsm(T alpha, triangle const& A, inout B) {
  if (where_ == place::alone) {
    if (B.rows <= inverted) return solve_by_inverse(alpha, A, B);
  } else if (!triangle_pays(A, B)) {
    return pass(backend_.trsm, alpha, A, B);
  }
  auto const [f, s] = halves(B.rows, A.upper);
  trsm(alpha, half(A, f), rows_of(B, f));
  product(T(-1), block(A.elements, s, f), rows_of(B, f), alpha, rows_of(B, s));
  trsm(T(1), half(A, s), rows_of(B, s));
}

template <typename T>
void recursive<T>::solve_by_inverse(T alpha, triangle const& A, inout B) {
  size const n = B.rows;
  std::array<T, inverted * inverted> room{};
  auto const inverse = column_major(room.data(), n, n, inverted);
  // One column after the other of the identity, from its one on: down for a lower triangle, up for an upper one.
  size const step = A.upper ? -1 : 1, end = A.upper ? -1 : n;
  for (size j = 0; j < n; ++j) {
    at(inverse, j, j) = alpha;
    for (size i = j; i != end; i += step) {
      if (!A.unit) at(inverse, i, j) /= at(A.elements, i, i);
      for (size r = i + step; r != end; r += step) at(inverse, r, j) -= at(A.elements, r, i) * at(inverse, i, j);
    }
  }
  constexpr size columns = 64 * 64 * 64 / (inverted * inverted);  // a product of the calling thread's
  for_columns(process_.workers(), B.cols, columns / 2, [&](size begin, size last) {
    std::array<T, inverted * columns> copies;
    for (size c = begin; c < last; c += columns) {
      inout const X = B.block(0, c, n, std::min(columns, last - c));
      auto const copy = column_major(copies.data(), n, X.cols, n);
      for (size j = 0; j < X.cols; ++j) {
        for (size i = 0; i < n; ++i) at(copy, i, j) = at(X, i, j);
      }
      process_.multiply_in_any_case<T>(T(1), inverse, copy, T(0), X);
    }
  });
}

template class recursive<double>;
template class recursive<float>;

}  // namespace heptad::blas
