// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <heptad/cuda.hpp>

int main() {
  try {
    std::puts(heptad::cuda::explain(heptad::cuda::make_plan<double>({4096, 4096, 4096})).c_str());
  } catch (heptad::error const& e) {
    std::puts(e.what());
  }
}
