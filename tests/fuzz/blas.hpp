// SPDX-License-Identifier: BSD-3-Clause
// The symbols under test, and those of level 3 of another BLAS.
#pragma once

#include <dlfcn.h>

#include <heptad/heptad.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace heptad::fuzz {

/// Routines of level 3 as Fortran has them, with the lengths of the CHARACTER arguments at the end.
template <typename T, typename I>
struct blas_functions {
  using length = std::size_t;
  using flag = char const*;
  using size = I const*;
  using in = T const*;
  void (*gemm)(flag, flag, size, size, size, in, in, size, in, size, in, T*, size, length, length);
  void (*symm)(flag, flag, size, size, in, in, size, in, size, in, T*, size, length, length);
  void (*syrk)(flag, flag, size, size, in, in, size, in, T*, size, length, length);
  void (*syr2k)(flag, flag, size, size, in, in, size, in, size, in, T*, size, length, length);
  void (*trmm)(flag, flag, flag, flag, size, size, in, in, size, T*, size, length, length, length, length);
  void (*trsm)(flag, flag, flag, flag, size, size, in, in, size, T*, size, length, length, length, length);
};

template <typename Function>
void find(void* library, char type, char const* name, Function*& into) {
  char symbol[32];
  std::snprintf(symbol, sizeof symbol, "%c%s_", type, name);
  into = reinterpret_cast<Function*>(dlsym(library, symbol));
  if (into != nullptr) return;
  std::fprintf(stderr, "the library has no %s\n", symbol);
  std::exit(2);
}

/// Those of a loaded library.
template <typename T>
blas_functions<T, std::int32_t> find_blas(void* library) {
  char const type = sizeof(T) == sizeof(double) ? 'd' : 's';
  blas_functions<T, std::int32_t> found{};
  find(library, type, "gemm", found.gemm);
  find(library, type, "symm", found.symm);
  find(library, type, "syrk", found.syrk);
  find(library, type, "syr2k", found.syr2k);
  find(library, type, "trmm", found.trmm);
  find(library, type, "trsm", found.trsm);
  return found;
}

template <typename T>
struct ours;

#define HEPTAD_FOR(T, t)                                                                           \
  extern "C" {                                                                                     \
  std::remove_pointer_t<decltype(blas_functions<T, std::int32_t>::gemm)> t##gemm_;                 \
  std::remove_pointer_t<decltype(blas_functions<T, std::int32_t>::symm)> t##symm_;                 \
  std::remove_pointer_t<decltype(blas_functions<T, std::int32_t>::syrk)> t##syrk_;                 \
  std::remove_pointer_t<decltype(blas_functions<T, std::int32_t>::syr2k)> t##syr2k_;               \
  std::remove_pointer_t<decltype(blas_functions<T, std::int32_t>::trmm)> t##trmm_, t##trsm_;       \
  std::remove_pointer_t<decltype(blas_functions<T, std::int64_t>::gemm)> t##gemm_64_;              \
  std::remove_pointer_t<decltype(blas_functions<T, std::int64_t>::symm)> t##symm_64_;              \
  std::remove_pointer_t<decltype(blas_functions<T, std::int64_t>::syrk)> t##syrk_64_;              \
  std::remove_pointer_t<decltype(blas_functions<T, std::int64_t>::syr2k)> t##syr2k_64_;            \
  std::remove_pointer_t<decltype(blas_functions<T, std::int64_t>::trmm)> t##trmm_64_, t##trsm_64_; \
  void t##getrf_(int const*, int const*, T*, int const*, int*, int*);                              \
  void t##potrf_(char const*, int const*, T*, int const*, int*);                                   \
  void t##gesv_(int const*, int const*, T*, int const*, int*, T*, int const*, int*);               \
  void cblas_##t##gemm(int, int, int, int, int, int, T, T const*, int, T const*, int, T, T*, int); \
  }                                                                                                \
  template <>                                                                                      \
  struct ours<T> {                                                                                 \
    static constexpr auto c_gemm = &heptad_##t##gemm;                                              \
    static constexpr auto cblas_gemm = &cblas_##t##gemm;                                           \
    static constexpr auto getrf = &t##getrf_;                                                      \
    static constexpr auto potrf = &t##potrf_;                                                      \
    static constexpr auto gesv = &t##gesv_;                                                        \
    static blas_functions<T, std::int32_t> with_32_bits() {                                        \
      return {t##gemm_, t##symm_, t##syrk_, t##syr2k_, t##trmm_, t##trsm_};                        \
    }                                                                                              \
    static blas_functions<T, std::int64_t> with_64_bits() {                                        \
      return {t##gemm_64_, t##symm_64_, t##syrk_64_, t##syr2k_64_, t##trmm_64_, t##trsm_64_};      \
    }                                                                                              \
  };
HEPTAD_FOR(double, d)
HEPTAD_FOR(float, s)
#undef HEPTAD_FOR

}  // namespace heptad::fuzz
