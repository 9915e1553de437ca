// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <heptad/heptad.hpp>
#include <vector>

int main() {
  std::vector<double> A(400 * 300, 1.0), B(300 * 500, 2.0), C(400 * 500);
  heptad::context workers;
  heptad::gemm(workers, 1.0, heptad::column_major<double const>(A.data(), 400, 300, 400),
               heptad::column_major<double const>(B.data(), 300, 500, 300), 0.0,
               heptad::column_major(C.data(), 400, 500, 400));
  std::printf("C(0,0) = %g\n", C[0]);
  return C[0] == 600 ? 0 : 1;
}
