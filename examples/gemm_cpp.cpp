// SPDX-License-Identifier: BSD-3-Clause
// The C++ interface: ask for a plan, read it, run it, and read what really happened.
#include <heptad/heptad.hpp>
#include <iostream>
#include <random>
#include <vector>

int main() {
  std::int64_t const n = 1200;
  std::vector<float> a(n * n), b(n * n), c(n * n);
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (float& x : a) x = uniform(random);
  for (float& x : b) x = uniform(random);

  heptad::context workers;  // as many as the process may use
  auto const A = heptad::row_major<float const>(a.data(), n, n, n);
  auto const B = heptad::row_major<float const>(b.data(), n, n, n);
  auto const C = heptad::row_major(c.data(), n, n, n);

  heptad::options wishes;
  wishes.max_error = 10;  // at most ten times the expected error of the classical product
  wishes.max_workspace = std::size_t{64} << 20;

  heptad::problem shape{n, n, n};
  shape.a_row_major = shape.b_row_major = shape.c_row_major = true;
  shape.beta_zero = true;
  heptad::plan const plan = heptad::make_plan<float>(workers, shape, wishes);
  std::cout << heptad::explain(plan);

  try {
    heptad::report const report = heptad::gemm(workers, plan, 1.0f, A, B, 0.0f, C);
    std::cout << "took " << report.seconds << " s, " << report.gflops << " GFLOP/s, " << report.workspace
              << " bytes of workspace, " << 100 * report.idle_fraction << " % idle\n";
  } catch (heptad::error const& wrong) {
    std::cerr << wrong.what() << '\n';
    return 1;
  }
}
