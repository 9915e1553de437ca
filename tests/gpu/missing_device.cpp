// SPDX-License-Identifier: BSD-3-Clause
#include <cuda_runtime_api.h>

#include "tests/main.hpp"

char const* heptad::test::missing_here() {
  int devices = 0;
  return cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0 ? "CUDA device" : nullptr;
}
