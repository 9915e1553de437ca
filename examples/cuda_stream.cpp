// SPDX-License-Identifier: BSD-3-Clause
// Two products on one stream, one after the other, with a plan that is made once: the second allocates nothing. The
// host waits once, at the end.
#include <cuda_runtime_api.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <heptad/cuda.hpp>

namespace {

void check(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(status));
  std::exit(1);
}

double* on_device(std::vector<double> const& values) {
  void* data = nullptr;
  check(cudaMalloc(&data, values.size() * sizeof(double)));
  check(cudaMemcpy(data, values.data(), values.size() * sizeof(double), cudaMemcpyHostToDevice));
  return static_cast<double*>(data);
}

}  // namespace

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::puts("skipped: no CUDA device");
    return 77;
  }
  constexpr std::int64_t n = 4096;
  std::vector<double> host(n * n);
  for (std::size_t i = 0; i < host.size(); ++i) host[i] = std::sin(static_cast<double>(i));
  double *const a = on_device(host), *const b = on_device(host), *const c = on_device(host), *const d = on_device(host);
  auto const square = [](double* data) { return heptad::column_major(data, n, n, n); };

  heptad::problem shape;
  shape.m = shape.n = shape.k = n;
  shape.beta_zero = true;
  heptad::cuda::executable const product(heptad::cuda::make_plan<double>(shape));
  std::fputs(heptad::cuda::explain(product.how()).c_str(), stdout);

  void* memory = nullptr;
  check(cudaMalloc(&memory, product.workspace_bytes() + 256));
  heptad::cuda::workspace const workspace{memory, product.workspace_bytes()};
  cudaStream_t stream = nullptr;
  check(cudaStreamCreate(&stream));
  heptad::cuda::gemm<double>(stream, nullptr, product, 1.0, square(a), square(b), 0.0, square(c),
                             workspace);  // C = A B
  heptad::cuda::gemm<double>(stream, nullptr, product, 1.0, square(c), square(b), 0.0, square(d),
                             workspace);  // D = C B
  check(cudaMemcpyAsync(host.data(), c, n * sizeof(double), cudaMemcpyDeviceToHost, stream));
  check(cudaStreamSynchronize(stream));

  double sum = 0;  // C(1, 0) by the definition
  for (std::int64_t l = 0; l < n; ++l) sum += std::sin(double(1 + l * n)) * std::sin(double(l));
  double const error = std::abs(host[1] - sum);
  std::printf("C(1, 0) = %.12f, by the definition %.12f\n", host[1], sum);
  for (void* data :
       {static_cast<void*>(a), static_cast<void*>(b), static_cast<void*>(c), static_cast<void*>(d), memory})
    check(cudaFree(data));
  return error < 1e-9 ? 0 : 1;
}
