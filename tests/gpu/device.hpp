// SPDX-License-Identifier: BSD-3-Clause
// Matrices on the device for the tests, and the definition of a product on the host.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <heptad/cuda.hpp>

namespace heptad::test {

inline void require(cudaError_t status) {
  INFO(cudaGetErrorString(status));
  REQUIRE(status == cudaSuccess);
}

/// Device memory with a copy on the host. `offset` elements come before the first one.
template <typename T>
class device_array {
public:
  explicit device_array(std::vector<T> values, std::size_t offset = 0) : host(std::move(values)), offset_(offset) {
    require(cudaMalloc(&data_, (host.size() + offset_ + 1) * sizeof(T)));
    upload();
  }
  ~device_array() { cudaFree(data_); }
  device_array(device_array const&) = delete;
  device_array& operator=(device_array const&) = delete;

  [[nodiscard]] T* data() const { return static_cast<T*>(data_) + offset_; }
  void upload() { require(cudaMemcpy(data(), host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice)); }
  void download() {
    require(cudaDeviceSynchronize());
    require(cudaMemcpy(host.data(), data(), host.size() * sizeof(T), cudaMemcpyDeviceToHost));
  }

  std::vector<T> host;

private:
  void* data_ = nullptr;
  std::size_t offset_;
};

/// A B of small integers, which every algorithm computes exactly; cuBLAS has its memory by then.
struct integer_squares {
  explicit integer_squares(std::int64_t n)
      : side(n), A(integers(n)), B(integers(n)), expected(integers(n)), C(integers(n)) {
    multiply(expected, {.max_levels = 0});
    expected.download();
  }

  void multiply(device_array<double> const& into, cuda::options const& wishes) const {
    auto const whole = [this](device_array<double> const& x) { return column_major(x.data(), side, side, side); };
    cuda::gemm<double>(nullptr, nullptr, 1.0, whole(A), whole(B), 0.0, whole(into), wishes);
  }
  [[nodiscard]] problem shape() const {
    problem shape;
    shape.m = shape.n = shape.k = side, shape.beta_zero = true;
    return shape;
  }

  std::int64_t side;
  device_array<double> A, B, expected, C;

private:
  static std::vector<double> integers(std::int64_t n) {
    std::vector<double> values(static_cast<std::size_t>(n * n));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i * 7 % 11 % 5) - 2;
    return values;
  }
};

template <typename T>
std::vector<T> random_values(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<T> uniform(-1, 1);
  std::vector<T> values(count);
  for (T& v : values) v = uniform(random);
  return values;
}

/// Element (i, j) of a view whose data are on the host.
template <typename T>
double element(std::vector<T> const& data, matrix_view<T> const& shape, std::int64_t i, std::int64_t j) {
  return static_cast<double>(data[static_cast<std::size_t>(i * shape.row_stride + j * shape.col_stride)]);
}

struct stream_and_handle {
  cudaStream_t stream = nullptr;
  cublasHandle_t handle = nullptr;
  stream_and_handle() {
    require(cudaStreamCreate(&stream));
    REQUIRE(cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS);
    REQUIRE(cublasSetStream(handle, stream) == CUBLAS_STATUS_SUCCESS);
  }
  ~stream_and_handle() {
    cublasDestroy(handle);
    cudaStreamDestroy(stream);
  }
};

/// What `queue` puts on the stream, to be launched again and again.
class captured {
public:
  template <typename Queue>
  captured(cudaStream_t stream, Queue const& queue) : stream_(stream) {
    require(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    queue();
    require(cudaStreamEndCapture(stream, &graph_));
    require(cudaGraphInstantiate(&ready_, graph_, 0));
  }
  ~captured() {
    cudaGraphExecDestroy(ready_);
    cudaGraphDestroy(graph_);
  }
  captured(captured const&) = delete;
  captured& operator=(captured const&) = delete;

  void launch() const { require(cudaGraphLaunch(ready_, stream_)); }

private:
  cudaStream_t stream_;
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t ready_ = nullptr;
};

}  // namespace heptad::test
