// SPDX-License-Identifier: BSD-3-Clause
// One product of matrices in host memory, shared by the CPU's cores and the CUDA devices of the machine: who did how
// much of it, and when. Where there is no device, the CPU does it all. Usage: hybrid_cpu_gpu [n [logical devices]]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <heptad/hybrid.hpp>
#include <random>
#include <utility>
#include <vector>

namespace {

using vector = std::vector<double>;

/// X v, X of n × n by columns.
vector times(vector const& X, vector const& v) {
  vector y(v.size());
  for (std::size_t j = 0; j < v.size(); ++j)
    for (std::size_t i = 0; i < v.size(); ++i) y[i] += X[i + j * v.size()] * v[j];
  return y;
}

}  // namespace

int main(int argc, char** argv) try {
  std::int64_t const n = argc > 1 ? std::atoll(argv[1]) : 1500;
  heptad::hybrid::options wishes;
  if (argc > 2) wishes.logical_devices = std::atoi(argv[2]);
  wishes.copy_threads = 4;  // these operands are not pinned

  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform(-1, 1);
  vector A(static_cast<std::size_t>(n * n)), B(A.size()), C(A.size(), std::nan(""));
  for (vector* X : {&A, &B}) std::ranges::generate(*X, [&] { return uniform(random); });
  auto const square = [n](auto* data) { return heptad::column_major(data, n, n, n); };

  heptad::context workers;
  heptad::hybrid::report done;
  for (int call = 0; call < 2; ++call) {  // the second is shared by what the first one took
    done = heptad::hybrid::gemm(workers, 1.0, square(std::as_const(A).data()), square(std::as_const(B).data()), 0.0,
                                square(C.data()), wishes);
    std::fputs(heptad::hybrid::explain(done).c_str(), stdout);
  }
  bool const alone = std::ranges::all_of(done.parts, [](auto const& part) { return part.device < 0; });
  if (alone) std::puts("the CPU alone computed C");

  // C v = A (B v) for a random v (Freivalds).
  vector v(static_cast<std::size_t>(n));
  std::ranges::generate(v, [&] { return uniform(random); });
  vector const found = times(C, v), expected = times(A, times(B, v));
  double error = 0, size = 0;
  for (std::size_t i = 0; i < v.size(); ++i) {
    error = std::max(error, std::abs(found[i] - expected[i]));
    size = std::max(size, std::abs(expected[i]));
  }
  std::printf("|C v - A (B v)| = %.1e |A (B v)|\n", error / size);
  return error <= 1e-10 * size ? 0 : 1;
} catch (heptad::error const& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
