// SPDX-License-Identifier: BSD-3-Clause
// Where the forwarded routines go: the jumps of forward.S read these slots. Each is filled when the library is loaded,
// before anything that depends on it runs; those that the backend does not have say so when they are called.
#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

#include "blas/forward/names.hpp"
#include "blas/process.hpp"

extern "C" {
extern __attribute__((visibility("hidden"))) void* heptad_blas_slots[];
__attribute__((visibility("hidden"), noreturn)) void heptad_blas_missing(std::size_t index);
}

void heptad_blas_missing(std::size_t index) {
  std::fprintf(stderr, "heptad-blas: the backend '%s' has no %s\n", heptad::blas::this_process().real.path(),
               heptad::blas::forwarded_names[index]);
  std::abort();
}

namespace {

__attribute__((constructor)) void fill_slots() {
  auto const& real = heptad::blas::this_process().real;
  for (std::size_t i = 0; i < heptad::blas::forwarded_names.size(); ++i) {
    if (void* const found = real.find(heptad::blas::forwarded_names[i])) heptad_blas_slots[i] = found;
  }
}

}  // namespace
