// SPDX-License-Identifier: BSD-3-Clause
// A pass whose columns overlap: two blocks write one element. ThreadSanitizer must end this program with an error; that
// it does shows that the other tests of this folder would find such a fault.
#include <vector>

#include "codelets/cuda/combine.hpp"

int main() {
  std::vector<double> X(4096, 1.0);
  return heptad::cuda::launch_scale<double>(nullptr, 2.0, X.data(), 1, 1024, 256) == cudaSuccess ? 0 : 1;
}
