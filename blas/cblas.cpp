// SPDX-License-Identifier: BSD-3-Clause
// The C symbols: cblas_dgemm and the others with 32-bit integers, cblas_dgemm64_ and the others with 64-bit ones.
// A row-major matrix is the transpose of a column-major one: a call in row-major order is one of the Fortran routine
// with operands, sides and triangles exchanged. What is not carried goes to the backend's CBLAS as it came.
#include <cstdint>
#include <utility>

#include "blas/calls.hpp"
#include "blas/looked_up.hpp"
#include "blas/process.hpp"

#define EXPORTED extern "C" __attribute__((visibility("default"))) void

namespace {

using heptad::blas::looked_up, heptad::blas::this_process;

// The enumerations of the CBLAS, whose values are part of its binary interface. What they do not have becomes '?',
// which no routine takes.
constexpr bool is_row_major(int layout) { return layout == 101; }
constexpr bool is_layout(int layout) { return layout == 101 || layout == 102; }
constexpr char trans_letter(int trans) { return trans == 111 ? 'N' : trans == 112 ? 'T' : trans == 113 ? 'C' : '?'; }
constexpr char uplo_letter(int uplo) { return uplo == 121 ? 'U' : uplo == 122 ? 'L' : '?'; }
constexpr char diag_letter(int diag) { return diag == 131 ? 'N' : diag == 132 ? 'U' : '?'; }
constexpr char side_letter(int side) { return side == 141 ? 'L' : side == 142 ? 'R' : '?'; }

constexpr char other(char letter) {
  switch (letter) {
    case 'U':
      return 'L';
    case 'L':
      return 'U';
    case 'N':
      return 'T';
    case 'T':
    case 'C':
      return 'N';
    default:
      return letter;
  }
}
constexpr char other_side(char letter) { return letter == 'L' ? 'R' : letter == 'R' ? 'L' : letter; }

}  // namespace

// A backend without a CBLAS gets the Fortran call instead.
#define PASS(symbol, fortran, fortran_arguments, T, ...)                               \
  static constinit looked_up of_backend;                                               \
  void* const real = of_backend.get([] { return this_process().real.find(#symbol); }); \
  if (real != nullptr) return reinterpret_cast<decltype(symbol)*>(real)(__VA_ARGS__);  \
  this_process().backend_of<T>().fortran fortran_arguments

#define HEPTAD_CBLAS(GEMM, SYMM, SYRK, SYR2K, TRMM, TRSM, T, I)                                                        \
  EXPORTED GEMM(int layout, int transa, int transb, I m, I n, I k, T alpha, T const* a, I lda, T const* b, I ldb,      \
                T beta, T* c, I ldc) {                                                                                 \
    bool const rows = is_row_major(layout);                                                                            \
    char const ta = trans_letter(rows ? transb : transa), tb = trans_letter(rows ? transa : transb);                   \
    auto const [m_, n_] = rows ? std::pair(n, m) : std::pair(m, n);                                                    \
    auto const [a_, lda_] = rows ? std::pair(b, ldb) : std::pair(a, lda);                                              \
    auto const [b_, ldb_] = rows ? std::pair(a, lda) : std::pair(b, ldb);                                              \
    if (is_layout(layout) && heptad::blas::gemm<T>(ta, tb, m_, n_, k, alpha, a_, lda_, b_, ldb_, beta, c, ldc))        \
      return;                                                                                                          \
    PASS(GEMM, gemm, (ta, tb, m_, n_, k, alpha, a_, lda_, b_, ldb_, beta, c, ldc), T, layout, transa, transb, m, n, k, \
         alpha, a, lda, b, ldb, beta, c, ldc);                                                                         \
  }                                                                                                                    \
  EXPORTED SYMM(int layout, int side, int uplo, I m, I n, T alpha, T const* a, I lda, T const* b, I ldb, T beta, T* c, \
                I ldc) {                                                                                               \
    bool const rows = is_row_major(layout);                                                                            \
    char const s = rows ? other_side(side_letter(side)) : side_letter(side);                                           \
    char const u = rows ? other(uplo_letter(uplo)) : uplo_letter(uplo);                                                \
    auto const [m_, n_] = rows ? std::pair(n, m) : std::pair(m, n);                                                    \
    if (is_layout(layout) && heptad::blas::symm<T>(s, u, m_, n_, alpha, a, lda, b, ldb, beta, c, ldc)) return;         \
    PASS(SYMM, symm, (s, u, m_, n_, alpha, a, lda, b, ldb, beta, c, ldc), T, layout, side, uplo, m, n, alpha, a, lda,  \
         b, ldb, beta, c, ldc);                                                                                        \
  }                                                                                                                    \
  EXPORTED SYRK(int layout, int uplo, int trans, I n, I k, T alpha, T const* a, I lda, T beta, T* c, I ldc) {          \
    bool const rows = is_row_major(layout);                                                                            \
    char const u = rows ? other(uplo_letter(uplo)) : uplo_letter(uplo);                                                \
    char const t = rows ? other(trans_letter(trans)) : trans_letter(trans);                                            \
    if (is_layout(layout) && heptad::blas::syrk<T>(u, t, n, k, alpha, a, lda, beta, c, ldc)) return;                   \
    PASS(SYRK, syrk, (u, t, n, k, alpha, a, lda, beta, c, ldc), T, layout, uplo, trans, n, k, alpha, a, lda, beta, c,  \
         ldc);                                                                                                         \
  }                                                                                                                    \
  EXPORTED SYR2K(int layout, int uplo, int trans, I n, I k, T alpha, T const* a, I lda, T const* b, I ldb, T beta,     \
                 T* c, I ldc) {                                                                                        \
    bool const rows = is_row_major(layout);                                                                            \
    char const u = rows ? other(uplo_letter(uplo)) : uplo_letter(uplo);                                                \
    char const t = rows ? other(trans_letter(trans)) : trans_letter(trans);                                            \
    if (is_layout(layout) && heptad::blas::syr2k<T>(u, t, n, k, alpha, a, lda, b, ldb, beta, c, ldc)) return;          \
    PASS(SYR2K, syr2k, (u, t, n, k, alpha, a, lda, b, ldb, beta, c, ldc), T, layout, uplo, trans, n, k, alpha, a, lda, \
         b, ldb, beta, c, ldc);                                                                                        \
  }                                                                                                                    \
  HEPTAD_CBLAS_TRIANGULAR(TRMM, trmm, T, I)                                                                            \
  HEPTAD_CBLAS_TRIANGULAR(TRSM, trsm, T, I)

// In row-major order B := op(A) B is Bᵀ := Bᵀ op(A)ᵀ, and the stored A is read as its transpose: op stays.
#define HEPTAD_CBLAS_TRIANGULAR(SYMBOL, routine, T, I)                                                             \
  EXPORTED SYMBOL(int layout, int side, int uplo, int trans, int diag, I m, I n, T alpha, T const* a, I lda, T* b, \
                  I ldb) {                                                                                         \
    bool const rows = is_row_major(layout);                                                                        \
    char const s = rows ? other_side(side_letter(side)) : side_letter(side);                                       \
    char const u = rows ? other(uplo_letter(uplo)) : uplo_letter(uplo);                                            \
    char const t = trans_letter(trans), d = diag_letter(diag);                                                     \
    auto const [m_, n_] = rows ? std::pair(n, m) : std::pair(m, n);                                                \
    if (is_layout(layout) && heptad::blas::routine<T>(s, u, t, d, m_, n_, alpha, a, lda, b, ldb)) return;          \
    PASS(SYMBOL, routine, (s, u, t, d, m_, n_, alpha, a, lda, b, ldb), T, layout, side, uplo, trans, diag, m, n,   \
         alpha, a, lda, b, ldb);                                                                                   \
  }

HEPTAD_CBLAS(cblas_dgemm, cblas_dsymm, cblas_dsyrk, cblas_dsyr2k, cblas_dtrmm, cblas_dtrsm, double, std::int32_t)
HEPTAD_CBLAS(cblas_sgemm, cblas_ssymm, cblas_ssyrk, cblas_ssyr2k, cblas_strmm, cblas_strsm, float, std::int32_t)
HEPTAD_CBLAS(cblas_dgemm64_, cblas_dsymm64_, cblas_dsyrk64_, cblas_dsyr2k64_, cblas_dtrmm64_, cblas_dtrsm64_, double,
             std::int64_t)
HEPTAD_CBLAS(cblas_sgemm64_, cblas_ssymm64_, cblas_ssyrk64_, cblas_ssyr2k64_, cblas_strmm64_, cblas_strsm64_, float,
             std::int64_t)
