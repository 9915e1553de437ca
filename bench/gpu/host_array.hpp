// SPDX-License-Identifier: BSD-3-Clause
// Matrices on the host, pinned or not, with random contents that were made on the device.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdlib>
#include <utility>

#include "bench/gpu/check.hpp"
#include "bench/gpu/matrices.hpp"

namespace heptad::bench {

template <typename T>
class host_array {
public:
  host_array(std::size_t count, bool pageable, unsigned seed) : count_(count), pageable_(pageable) {
    if (pageable) data_ = static_cast<T*>(std::malloc(count * sizeof(T)));
    else
      check(cudaHostAlloc(reinterpret_cast<void**>(&data_), count * sizeof(T), cudaHostAllocDefault), "cudaHostAlloc");
    T* device = nullptr;
    check(cudaMalloc(reinterpret_cast<void**>(&device), count * sizeof(T)), "cudaMalloc");
    fill_random(device, count, seed);
    check(cudaMemcpy(data_, device, count * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
    cudaFree(device);
  }
  ~host_array() {
    if (pageable_) std::free(data_);
    else cudaFreeHost(data_);
  }
  host_array(host_array const&) = delete;
  host_array& operator=(host_array const&) = delete;
  [[nodiscard]] T* data() const { return data_; }

private:
  std::size_t count_;
  bool pageable_;
  T* data_ = nullptr;
};

/// relative_difference of matrices on the host, computed by the device.
template <typename T>
double difference_on_host(T const* X, T const* Y, std::size_t count) {
  T *x = nullptr, *y = nullptr;
  for (auto const& [to, from] : {std::pair{&x, X}, {&y, Y}}) {
    check(cudaMalloc(reinterpret_cast<void**>(to), count * sizeof(T)), "cudaMalloc");
    check(cudaMemcpy(*to, from, count * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
  }
  double const difference = relative_difference(x, y, count);
  cudaFree(x);
  cudaFree(y);
  return difference;
}

}  // namespace heptad::bench
