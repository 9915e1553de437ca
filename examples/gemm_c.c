/* SPDX-License-Identifier: BSD-3-Clause
 * The C interface: a call of dgemm with heptad_ before its name. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <heptad/heptad.h>

int main(void) {
  const int64_t m = 700, n = 500, k = 600;
  double *a = malloc(sizeof *a * m * k), *b = malloc(sizeof *b * k * n), *c = malloc(sizeof *c * m * n);
  if (!a || !b || !c) return 1;
  for (int64_t i = 0; i < m * k; ++i) a[i] = (double)(i % 11) - 4;
  for (int64_t i = 0; i < k * n; ++i) b[i] = (double)(i % 13) - 5;

  /* C := 2 A B; beta = 0, so C need not be initialised. */
  int status = heptad_dgemm('n', 'n', m, n, k, 2.0, a, m, b, k, 0.0, c, m);
  if (status != HEPTAD_SUCCESS) {
    fprintf(stderr, "%s: %s\n", heptad_status_string(status), heptad_last_error());
    return 1;
  }

  double expected = 0;
  for (int64_t l = 0; l < k; ++l) expected += 2 * a[3 + l * m] * b[l + 4 * k];
  printf("C(3,4) = %g, expected %g\n", c[3 + 4 * m], expected);
  int right = fabs(c[3 + 4 * m] - expected) < 1e-9;

  /* A wrong argument: C is left as it was, and the error names the argument, its value and the rule. */
  status = heptad_dgemm('n', 'n', m, n, k, 2.0, a, m, b, k, 0.0, c, 3);
  printf("%s: %s\n", heptad_status_string(status), heptad_last_error());
  right = right && status == HEPTAD_INVALID_ARGUMENT;

  free(a);
  free(b);
  free(c);
  return right ? 0 : 1;
}
