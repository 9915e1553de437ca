// SPDX-License-Identifier: BSD-3-Clause
// One call of the macro-kernel of AVX2, of 16 × 8 whole tiles and so many k-steps, whose instructions instructions.py
// counts. Its operands are as large whatever the steps, so that only these make a difference.
#include <cstdlib>
#include <string_view>
#include <vector>

#include "codelets/cpu/kernel_set.hpp"

namespace {

constexpr int down = 16, across = 8, most_steps = 512;

template <typename T>
int run(int steps) {
  using namespace heptad::cpu;
  kernel_set<T> const& kernels = *find_kernel_set<T>("avx2");
  if (!kernels.available()) return 77;
  blocking const tile = kernels.blocks();
  int const rows = down * tile.mr, cols = across * tile.nr;
  std::vector<T> const a(static_cast<std::size_t>(rows * most_steps + tile.mr)), b(a);
  std::vector<T> buffer(static_cast<std::size_t>(rows * cols));
  kernels.macro({.rows = rows,
                 .cols = cols,
                 .depth = steps,
                 .a = a.data(),
                 .b = b.data(),
                 .mode = gather::set,
                 .buffer = buffer.data(),
                 .destinations = nullptr,
                 .count = 0,
                 .rs = 1,
                 .cs = rows,
                 .prefetch = nullptr});
  return 0;
}

}  // namespace

int main(int, char** arguments) {
  int const steps = std::atoi(arguments[2]);
  return std::string_view(arguments[1]) == "f64" ? run<double>(steps) : run<float>(steps);
}
