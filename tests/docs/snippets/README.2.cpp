// SPDX-License-Identifier: BSD-3-Clause
#include <iostream>
#include <vector>

int main() {
  std::int64_t const m = 40, n = 30, k = 50, lda = 60, ldb = 70, ldc = 80;
  std::vector<double> const a_elements(lda * k, 1.0), b_elements(ldb * n, 2.0);
  std::vector<double> c_elements(ldc * n);
  double const *const a = a_elements.data(), *const b = b_elements.data();
  double* const c = c_elements.data();
@snippet@
  return c[0] == 100 && c[m - 1 + (n - 1) * ldc] == 100 && c[m] == 0 && report.seconds > 0 ? 0 : 1;
}
