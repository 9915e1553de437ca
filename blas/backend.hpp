// SPDX-License-Identifier: BSD-3-Clause
// The real BLAS, found at run time: the one that the program would have had without the drop-in, or the one that the
// user names. Never ourselves, under whatever file name and however often we are loaded.
#pragma once

#include <string>

namespace heptad::blas {

class backend {
public:
  /// `wanted` as HEPTAD_BLAS_BACKEND; "": the BLAS that comes after us in the program, else libblas.so.3, libopenblas,
  /// libblis, libmkl_rt, else the reference BLAS. What could not be had is said on stderr.
  explicit backend(std::string const& wanted);

  /// Null when neither the BLAS nor the LAPACK has it.
  [[nodiscard]] void* find(char const* symbol) const;
  /// Of the library that dgemm_ comes from; "" when there is no BLAS at all.
  [[nodiscard]] char const* path() const noexcept { return path_; }
  /// Threads that the library would use for its next call; 0 when it does not say.
  [[nodiscard]] int threads() const;

private:
  bool open(char const* file);
  bool accept(void* handle);

  void* blas_ = nullptr;
  char const* path_ = "";             // the loader's
  int (*int_threads_)() = nullptr;    // OpenBLAS, MKL
  long (*long_threads_)() = nullptr;  // BLIS; −1: not set
};

}  // namespace heptad::blas
