/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

int main(void) {
  enum { m = 4, n = 3, k = 5, lda = 6, ldb = 7, ldc = 8 };
  double a[lda * k], b[ldb * n], c[ldc * n];
  for (int i = 0; i < lda * k; ++i) a[i] = 1;
  for (int i = 0; i < ldb * n; ++i) b[i] = 2;
@snippet@
  return status == HEPTAD_SUCCESS && c[0] == 10 && c[m - 1 + (n - 1) * ldc] == 10 ? 0 : 1;
}
