// SPDX-License-Identifier: BSD-3-Clause
// From the words of the BLAS to views: the cheap test first, then the rules of the reference, then whether it pays.
#include "blas/calls.hpp"

#include "blas/rank_k.hpp"
#include "blas/recursive.hpp"

namespace heptad::blas {
namespace {

/// One of two letters, in either case.
class choice {
public:
  choice(char given, char no, char yes, char also_yes = '\0') noexcept {
    char const upper = given >= 'a' && given <= 'z' ? static_cast<char>(given - 'a' + 'A') : given;
    yes_ = upper == yes || (also_yes != '\0' && upper == also_yes);
    valid_ = yes_ || upper == no;
  }
  [[nodiscard]] bool valid() const noexcept { return valid_; }
  operator bool() const noexcept { return yes_; }

private:
  bool yes_, valid_;
};

choice transposed(char trans) noexcept { return {trans, 'N', 'T', 'C'}; }
choice is_upper(char uplo) noexcept { return {uplo, 'L', 'U'}; }
choice is_right(char side) noexcept { return {side, 'L', 'R'}; }
choice is_unit(char diag) noexcept { return {diag, 'N', 'U'}; }

bool leads(size ld, size rows) noexcept { return ld >= std::max(size{1}, rows); }

}  // namespace

template <typename T>
bool gemm(char transa, char transb, size m, size n, size k, T alpha, T const* a, size lda, T const* b, size ldb, T beta,
          T* c, size ldc) {
  process& p = this_process();
  if (!p.considers<T>(routine_id::gemm, multiplications(m, n, k))) return p.pass_on<T>(routine_id::gemm);
  choice const ta = transposed(transa), tb = transposed(transb);
  if (!ta.valid() || !tb.valid() || m < 0 || n < 0 || !leads(lda, ta ? k : m) || !leads(ldb, tb ? n : k) ||
      !leads(ldc, m) || alpha == T(0)) {
    return p.pass_on<T>(routine_id::gemm);
  }
  return p.carry<T>(routine_id::gemm, {m, n, k}, [&] {
    auto const A = operand(a, lda, ta, m, k), B = operand(b, ldb, tb, k, n);
    auto const C = column_major(c, m, n, ldc);
    return p.pays<T>(product_shape(A, B, beta == T(0), C), place::alone) && p.multiply<T>(alpha, A, B, beta, C);
  });
}

template <typename T>
bool symm(char side, char uplo, size m, size n, T alpha, T const* a, size lda, T const* b, size ldb, T beta, T* c,
          size ldc) {
  process& p = this_process();
  choice const right = is_right(side), upper = is_upper(uplo);
  size const order = right ? n : m;
  if (!p.considers<T>(routine_id::symm, multiplications(m, n, order)) || !right.valid() || !upper.valid() || m < 0 ||
      n < 0 || !leads(lda, order) || !leads(ldb, m) || !leads(ldc, m) || alpha == T(0)) {
    return p.pass_on<T>(routine_id::symm);
  }
  return p.carry<T>(routine_id::symm, {m, n, 0}, [&] {
    // C = alpha B A is Cᵀ = alpha A Bᵀ.
    auto const B = operand(b, ldb, right, order, right ? m : n);
    auto const C = operand(c, ldc, right, order, right ? m : n);
    typename recursive<T>::triangle const A{column_major(a, order, order, lda), upper};
    recursive<T> by_halves(p);
    if (!by_halves.symm_pays(A, B, C)) return false;
    by_halves.symm(alpha, A, B, beta, C);
    return true;
  });
}

template <typename T>
bool syrk(char uplo, char trans, size n, size k, T alpha, T const* a, size lda, T beta, T* c, size ldc) {
  process& p = this_process();
  choice const upper = is_upper(uplo), t = transposed(trans);
  if (!p.considers<T>(routine_id::syrk, multiplications(n, n, k) / 2) || !upper.valid() || !t.valid() || n < 0 ||
      !leads(lda, t ? k : n) || !leads(ldc, n) || alpha == T(0)) {
    return p.pass_on<T>(routine_id::syrk);
  }
  return p.carry<T>(routine_id::syrk, {0, n, k}, [&] {
    auto const A = operand(a, lda, t, n, k);
    auto const C = column_major(c, n, n, ldc);
    rank_k<T> update(p, A, C, upper);
    if (!update.pays(place::alone)) return false;
    update.run(alpha, beta);
    return true;
  });
}

template <typename T>
bool syr2k(char uplo, char trans, size n, size k, T alpha, T const* a, size lda, T const* b, size ldb, T beta, T* c,
           size ldc) {
  process& p = this_process();
  choice const upper = is_upper(uplo), t = transposed(trans);
  if (!p.considers<T>(routine_id::syr2k, multiplications(n, n, k)) || !upper.valid() || !t.valid() || n < 0 ||
      !leads(lda, t ? k : n) || !leads(ldb, t ? k : n) || !leads(ldc, n) || alpha == T(0)) {
    return p.pass_on<T>(routine_id::syr2k);
  }
  return p.carry<T>(routine_id::syr2k, {0, n, k}, [&] {
    auto const A = operand(a, lda, t, n, k), B = operand(b, ldb, t, n, k);
    auto const C = column_major(c, n, n, ldc);
    rank_k<T> update(p, A, B, C, upper);
    if (!update.pays(place::alone)) return false;
    update.run(alpha, beta);
    return true;
  });
}

namespace {

template <typename T>
using triangular = void (recursive<T>::*)(T, typename recursive<T>::triangle const&, matrix_view<T>);

template <typename T>
bool triangular_call(routine_id routine, triangular<T> run, char side, char uplo, char transa, char diag, size m,
                     size n, T alpha, T const* a, size lda, T* b, size ldb) {
  process& p = this_process();
  choice const right = is_right(side), upper = is_upper(uplo), t = transposed(transa), unit = is_unit(diag);
  size const order = right ? n : m;
  if (!p.considers<T>(routine, multiplications(m, n, order) / 2) || !right.valid() || !upper.valid() || !t.valid() ||
      !unit.valid() || m < 0 || n < 0 || !leads(lda, order) || !leads(ldb, m) || alpha == T(0)) {
    return p.pass_on<T>(routine);
  }
  return p.carry<T>(routine, {m, n, 0}, [&] {
    // X op(A) = B is op(A)ᵀ Xᵀ = Bᵀ; a transpose turns the triangle over.
    bool const turned = right != t;
    auto const B = operand(b, ldb, right, order, right ? m : n);
    typename recursive<T>::triangle const A{operand(a, lda, turned, order, order), upper != turned, unit};
    recursive<T> by_halves(p);
    if (!by_halves.triangle_pays(A, B)) return false;
    (by_halves.*run)(alpha, A, B);
    return true;
  });
}

}  // namespace

template <typename T>
bool trmm(char side, char uplo, char transa, char diag, size m, size n, T alpha, T const* a, size lda, T* b, size ldb) {
  return triangular_call(routine_id::trmm, &recursive<T>::trmm, side, uplo, transa, diag, m, n, alpha, a, lda, b, ldb);
}

template <typename T>
bool trsm(char side, char uplo, char transa, char diag, size m, size n, T alpha, T const* a, size lda, T* b, size ldb) {
  return triangular_call(routine_id::trsm, &recursive<T>::trsm, side, uplo, transa, diag, m, n, alpha, a, lda, b, ldb);
}

#define HEPTAD_FOR(T)                                                                               \
  template bool gemm(char, char, size, size, size, T, T const*, size, T const*, size, T, T*, size); \
  template bool symm(char, char, size, size, T, T const*, size, T const*, size, T, T*, size);       \
  template bool syrk(char, char, size, size, T, T const*, size, T, T*, size);                       \
  template bool syr2k(char, char, size, size, T, T const*, size, T const*, size, T, T*, size);      \
  template bool trmm(char, char, char, char, size, size, T, T const*, size, T*, size);              \
  template bool trsm(char, char, char, char, size, size, T, T const*, size, T*, size);
HEPTAD_FOR(double)
HEPTAD_FOR(float)
#undef HEPTAD_FOR

}  // namespace heptad::blas
