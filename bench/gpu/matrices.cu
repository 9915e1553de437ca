// SPDX-License-Identifier: BSD-3-Clause
#include "bench/gpu/matrices.hpp"

#include <cmath>

namespace heptad::bench {
namespace {

// SplitMix64 (Steele, Lea and Flood 2014): element i of a stream is a function of i.
__device__ std::uint64_t mixed(std::uint64_t x) {
  x *= 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

template <typename T>
__global__ void fill(T* data, std::size_t count, std::uint64_t seed) {
  std::size_t const step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step)
    data[i] = static_cast<T>(static_cast<double>(mixed(i + seed) >> 11) * 0x1p-52 - 1.0);
}

template <typename T>
__global__ void sum_squares(T const* X, T const* Y, std::size_t count, double* sums) {
  double difference = 0, norm = 0;
  std::size_t const step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    double const y = Y[i], d = X[i] - y;
    difference += d * d;
    norm += y * y;
  }
  for (int lane = 16; lane > 0; lane /= 2) {
    difference += __shfl_down_sync(~0u, difference, lane);
    norm += __shfl_down_sync(~0u, norm, lane);
  }
  if (threadIdx.x % 32 == 0) {
    atomicAdd(&sums[0], difference);
    atomicAdd(&sums[1], norm);
  }
}

}  // namespace

template <typename T>
void fill_random(T* data, std::size_t count, std::uint64_t seed) {
  fill<<<2048, 256>>>(data, count, seed << 40);
}

template <typename T>
double relative_difference(T const* X, T const* Y, std::size_t count) {
  double* sums = nullptr;
  double host[2] = {NAN, NAN};
  if (cudaMalloc(&sums, sizeof host) != cudaSuccess) return NAN;
  cudaMemset(sums, 0, sizeof host);
  sum_squares<<<1024, 256>>>(X, Y, count, sums);
  if (cudaMemcpy(host, sums, sizeof host, cudaMemcpyDeviceToHost) != cudaSuccess) host[0] = NAN;
  cudaFree(sums);
  return std::sqrt(host[0] / host[1]);
}

template void fill_random(double*, std::size_t, std::uint64_t);
template void fill_random(float*, std::size_t, std::uint64_t);
template double relative_difference(double const*, double const*, std::size_t);
template double relative_difference(float const*, float const*, std::size_t);

}  // namespace heptad::bench
