/* SPDX-License-Identifier: BSD-3-Clause
 * The drop-in by its Fortran name, too small for it: another BLAS must do it. */
#include <stdio.h>

void dgemm_(const char*, const char*, const int*, const int*, const int*, const double*, const double*, const int*,
            const double*, const int*, const double*, double*, const int*);

int main(void) {
  const int two = 2;
  const double one = 1, zero = 0, a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8};
  double c[] = {0, 0, 0, 0};
  dgemm_("N", "N", &two, &two, &two, &one, a, &two, b, &two, &zero, c, &two);
  printf("%g %g %g %g\n", c[0], c[1], c[2], c[3]);
  return c[0] == 23 && c[1] == 34 && c[2] == 31 && c[3] == 46 ? 0 : 1;
}
