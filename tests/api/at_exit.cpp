// SPDX-License-Identifier: BSD-3-Clause
// A program that multiplies while it ends: in an exit handler, registered before the first call and so run after all
// that this call made, and in the destructor of a global. Each time a new shape, which is planned. Exit status 0 only
// where all are right.
#include <heptad/heptad.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

int made = 0;

/// By the drop-in where the program is linked with it.
#ifdef HEPTAD_TEST_DROPIN
extern "C" void dgemm_(char const*, char const*, int const*, int const*, int const*, double const*, double const*,
                       int const*, double const*, int const*, double const*, double*, int const*);
void by_blas(int n, double const* A, double* C) {
  double const one = 1, zero = 0;
  dgemm_("n", "n", &n, &n, &n, &one, A, &n, A, &n, &zero, C, &n);
}
#else
void by_blas(int n, double const* A, double* C) {
  if (heptad_dgemm('n', 'n', n, n, n, 1, A, n, A, n, 0, C, n) != HEPTAD_SUCCESS) std::puts(heptad_last_error());
}
#endif

void multiply(int n) {
  std::vector<double> const A(static_cast<std::size_t>(n) * n, 1.0);
  std::vector<double> C(A.size());
  by_blas(n, A.data(), C.data());
  for (double const c : C)
    if (c != n) std::_Exit(1);
  std::printf("%d\n", n);
  ++made;
}

struct last_of_all {
  ~last_of_all() {
    multiply(1700);
    if (made != 4) std::_Exit(2);
  }
} const global;

}  // namespace

int main() {
  std::atexit([] { multiply(1400); });
  multiply(1300);
  std::atexit([] { multiply(1600); });
}
