// SPDX-License-Identifier: BSD-3-Clause
// As much of the CUDA runtime as the combine kernels use, on the host: the kernels' own source runs without a device.
// The blocks of a launch are shared out to a few threads, so that a race between blocks is one to ThreadSanitizer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#define __global__
#define __device__
#define __launch_bounds__(...)
#define __grid_constant__

enum cudaError_t { cudaSuccess = 0, cudaErrorInvalidValue = 1 };
typedef struct CUstream_st* cudaStream_t;

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
};
struct int2 {
  int x, y;
};
struct int4 {
  int x, y, z, w;
};
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  std::size_t dynamicSmemBytes = 0;
  cudaStream_t stream = nullptr;
};

inline thread_local dim3 blockIdx, threadIdx, blockDim, gridDim;

template <typename T>
T __ldg(T const* where) {
  if (reinterpret_cast<std::uintptr_t>(where) % sizeof(T) != 0) __builtin_trap();  // a device would fault
  return *where;
}

template <typename... Formal>
cudaError_t cudaLaunchKernelEx(cudaLaunchConfig_t const* config, void (*kernel)(Formal...), Formal... arguments) {
  constexpr unsigned workers = 3;
  if (config->gridDim.x == 0 || config->blockDim.x == 0 || config->blockDim.x > 1024) return cudaErrorInvalidValue;
  std::vector<std::thread> threads;
  for (unsigned w = 0; w < workers; ++w)
    threads.emplace_back([=] {
      gridDim = config->gridDim, blockDim = config->blockDim;
      for (blockIdx.x = w; blockIdx.x < gridDim.x; blockIdx.x += workers)
        for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) kernel(arguments...);
    });
  for (std::thread& t : threads) t.join();
  return cudaSuccess;
}
