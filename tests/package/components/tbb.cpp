// SPDX-License-Identifier: BSD-3-Clause
// In the client's arena; and an error of the library is caught as its class, across the library's border.
#include <cstdio>
#include <cstring>
#include <heptad/tbb.hpp>
#include <vector>

int main() {
  oneapi::tbb::task_arena arena(2);
  heptad::context workers = heptad::make_context(arena);
  std::vector<float> x(100 * 100, 1.0f), y(100 * 100);
  auto const X = heptad::row_major<float const>(x.data(), 100, 100, 100);
  heptad::gemm(workers, 1.0f, X, X, 0.0f, heptad::row_major(y.data(), 100, 100, 100));
  std::printf("%g\n", static_cast<double>(y[0]));
  try {
    heptad::gemm(workers, 1.0f, X, X, 0.0f, heptad::row_major(y.data(), 100, 99, 100));
  } catch (heptad::error const& e) {
    std::printf("%s\n", e.what());
    return y[0] == 100.0f && e.code() == heptad::status::invalid_argument && std::strlen(e.what()) > 0 ? 0 : 1;
  }
  return 1;
}
