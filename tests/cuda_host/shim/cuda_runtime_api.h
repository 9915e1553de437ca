// SPDX-License-Identifier: BSD-3-Clause
// As much of the CUDA runtime as the kernels use, on the host: the kernels' own source runs without a device.
// The blocks of a launch are shared out to a few workers, so that a race between blocks is one to ThreadSanitizer. A
// block that asks for shared memory has a thread for each of its threads, so that a race within it is one too.
#pragma once

#include <atomic>
#include <barrier>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#define __global__
#define __device__
#define __host__
#define __launch_bounds__(...)
#define __grid_constant__

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInvalidResourceHandle = 400,
  cudaErrorStreamCaptureIsolation = 905
};
typedef struct CUstream_st* cudaStream_t;

#include "shim_streams.h"

enum cudaDeviceAttr { cudaDevAttrComputeCapabilityMajor = 75 };
inline int shim_capability = 9;  // major compute capability of the device
inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr, int) {
  *value = shim_capability;
  return cudaSuccess;
}

struct cudaFuncAttributes {
  int numRegs = 0;
};
template <typename Kernel>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, Kernel*) {
  attributes->numRegs = 32;
  return cudaSuccess;
}

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
};
struct int2 {
  int x, y;
};
struct alignas(16) int4 {
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

/// What the lanes of a warp show each other; two rounds, so that one may be read while the next is written.
struct shim_lanes {
  static constexpr int most = 12;
  std::barrier<> barrier{32};
  double values[2][32][most];
};

/// A block whose threads work together.
struct shim_block {
  explicit shim_block(cudaLaunchConfig_t const& config)
      : barrier(config.blockDim.x), memory(config.dynamicSmemBytes / sizeof(int4) + 1) {
    std::memset(memory.data(), 0xff, memory.size() * sizeof(int4));  // not a number until something is written
    for (unsigned w = 0; w < config.blockDim.x / 32; ++w) warps.push_back(std::make_unique<shim_lanes>());
  }
  std::barrier<> barrier;
  std::vector<std::unique_ptr<shim_lanes>> warps;
  std::vector<int4> memory;
};
inline thread_local shim_block* this_block = nullptr;

#define HEPTAD_SHARED_MEMORY(name) auto* const name = reinterpret_cast<unsigned char*>(this_block->memory.data())

inline bool shim_barriers = true, shim_warp_barriers = true;  // false: a fault for ThreadSanitizer to find
inline void __syncthreads() {
  if (shim_barriers) this_block->barrier.arrive_and_wait();
}
inline thread_local unsigned shim_round = 0;  // of the lanes of a warp

/// Products of fragments as mma.m8n8k4 and m16n8k4 have them in FP64: lane 4 r + k shows element (r, k) of each block
/// of the first factors and (k, r) of the second ones, and gets elements (r, 2 k) and (r, 2 k + 1) of every product.
template <typename Pair, int Columns, int Vectors>
void shim_multiply_fragments(Pair (&sums)[Columns][Vectors], double const (&x)[Columns], double const (&y)[Vectors]) {
  shim_lanes& lanes = *this_block->warps[threadIdx.x / 32];
  unsigned const lane = threadIdx.x % 32, first = lane / 4 * 4, second = lane % 4 * 8;
  auto& all = lanes.values[shim_round++ % 2];
  static_assert(Columns + Vectors <= shim_lanes::most);
  for (int j = 0; j < Columns; ++j) all[lane][j] = x[j];
  for (int v = 0; v < Vectors; ++v) all[lane][Columns + v] = y[v];
  if (shim_warp_barriers) lanes.barrier.arrive_and_wait();
  for (int j = 0; j < Columns; ++j)
    for (int v = 0; v < Vectors; ++v)
      for (unsigned k = 0; k < 4; ++k)
        for (unsigned e = 0; e < 2; ++e) sums[j][v].x[e] += all[first + k][j] * all[second + 4 * e + k][Columns + v];
}
inline void __threadfence() {}  // what is ordered is ordered by acquire and release
inline void __nanosleep(unsigned) { std::this_thread::yield(); }
template <typename T>
T atomicAdd(T* where, T value) {
  return std::atomic_ref(*where).fetch_add(value, std::memory_order_relaxed);
}

template <typename... Formal>
void shim_run_block(cudaLaunchConfig_t const& config, unsigned number, void (*kernel)(Formal...),
                    Formal const&... arguments) {
  auto const run = [&](unsigned thread, shim_block* block) {
    gridDim = config.gridDim, blockDim = config.blockDim;
    blockIdx.x = number, threadIdx.x = thread, this_block = block;
    kernel(arguments...);
  };
  if (config.dynamicSmemBytes == 0) {
    for (unsigned t = 0; t < config.blockDim.x; ++t) run(t, nullptr);
    return;
  }
  shim_block block(config);
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < config.blockDim.x; ++t) threads.emplace_back(run, t, &block);
  for (std::thread& t : threads) t.join();
}

template <typename... Formal>
cudaError_t cudaLaunchKernelEx(cudaLaunchConfig_t const* config, void (*kernel)(Formal...), Formal... arguments) {
  constexpr unsigned workers = 3;
  if (config->gridDim.x == 0 || config->blockDim.x == 0 || config->blockDim.x > 1024) return cudaErrorInvalidValue;
  std::vector<std::thread> threads;
  for (unsigned w = 0; w < workers; ++w)
    threads.emplace_back([&, w] {
      for (unsigned b = w; b < config->gridDim.x; b += workers) shim_run_block(*config, b, kernel, arguments...);
    });
  for (std::thread& t : threads) t.join();
  return cudaSuccess;
}
