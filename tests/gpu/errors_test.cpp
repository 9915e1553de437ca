// SPDX-License-Identifier: BSD-3-Clause
// Bad input is refused by name before anything is queued, and the device stays usable.
#include <string>

#include <heptad/cuda.h>

#include "src/plan/device_planner.hpp"
#include "tests/gpu/device.hpp"

using namespace heptad;
using namespace heptad::test;
using Catch::Contains;

namespace {

constexpr std::int64_t n = 64;
auto square(double* data) { return column_major(data, n, n, n); }

struct operands_on_device {
  device_array<double> A{random_values<double>(n * n + 1, 1)}, B{random_values<double>(n * n + 1, 2)},
      C{random_values<double>(n * n + 1, 3)};
};

}  // namespace

TEST_CASE("host memory, wild and misaligned pointers are refused by name") {
  operands_on_device x;
  std::vector<double> host(n * n);
  auto const call = [&](double* a, double* b, double* c) {
    cuda::gemm<double>(nullptr, nullptr, 1.0, square(a), square(b), 0.0, square(c));
  };
  CHECK_THROWS_WITH(call(host.data(), x.B.data(), x.C.data()), Contains("A.data") && Contains("host memory"));
  CHECK_THROWS_WITH(call(x.A.data(), host.data(), x.C.data()), Contains("B.data") && Contains("host memory"));
  CHECK_THROWS_WITH(call(x.A.data(), x.B.data(), host.data()), Contains("C.data") && Contains("host memory"));
  CHECK_THROWS_WITH(call(x.A.data(), x.B.data(), nullptr), Contains("C.data = null"));
  auto* const odd = reinterpret_cast<double*>(reinterpret_cast<char*>(x.A.data()) + 4);
  CHECK_THROWS_WITH(call(odd, x.B.data(), x.C.data()), Contains("A.data") && Contains("aligned"));
  CHECK_THROWS_WITH(call(x.A.data(), x.B.data(), x.A.data()), Contains("C must not overlap A"));
  CHECK_NOTHROW(call(x.A.data(), x.B.data(), x.C.data()));
  require(cudaDeviceSynchronize());
}

TEST_CASE("a failed call leaves C as it was") {
  operands_on_device x;
  auto const before = x.C.host;
  std::vector<double> host(n * n);
  CHECK(heptad_cuda_dgemm(nullptr, 'N', 'N', n, n, n, 1.0, host.data(), n, x.B.data(), n, 0.0, x.C.data(), n) ==
        HEPTAD_INVALID_ARGUMENT);
  CHECK_THAT(heptad_cuda_last_error(), Contains("host memory"));
  CHECK(heptad_cuda_dgemm(nullptr, 'N', 'X', n, n, n, 1.0, x.A.data(), n, x.B.data(), n, 0.0, x.C.data(), n) ==
        HEPTAD_INVALID_ARGUMENT);
  CHECK_THAT(heptad_cuda_last_error(), Contains("transb"));
  CHECK(heptad_cuda_dgemm(nullptr, 'N', 'N', n, n, n, 1.0, x.A.data(), n - 1, x.B.data(), n, 0.0, x.C.data(), n) ==
        HEPTAD_INVALID_ARGUMENT);
  CHECK_THAT(heptad_cuda_last_error(), Contains("lda"));
  x.C.download();
  CHECK(x.C.host == before);
}

TEST_CASE("a workspace that is too small or misaligned is refused with the size that is needed") {
  operands_on_device x;
  stream_and_handle on;
  cuda::plan p;
  p.shape.m = p.shape.n = p.shape.k = n;
  p.shape.beta_zero = true;
  p.stages = {cuda::make_stage("winograd", 1, true)};
  cuda::complete_device_plan(p, cuda::default_device_profile());
  cuda::executable const what(p);
  device_array<double> memory(std::vector<double>(what.workspace_bytes() / 8 + 64));
  auto const call = [&](cuda::workspace given) {
    cuda::gemm<double>(on.stream, on.handle, what, 1.0, square(x.A.data()), square(x.B.data()), 0.0, square(x.C.data()),
                       given);
  };
  CHECK_THROWS_WITH(call({memory.data(), what.workspace_bytes() - 1}),
                    Contains(std::to_string(what.workspace_bytes())));
  CHECK_THROWS_WITH(call({memory.data() + 1, what.workspace_bytes()}), Contains("memory.data") && Contains("256"));
  CHECK_NOTHROW(call({memory.data(), what.workspace_bytes()}));
  require(cudaStreamSynchronize(on.stream));
}

TEST_CASE("an executable refuses another shape, type or beta, and a handle of another stream") {
  operands_on_device x;
  stream_and_handle on, other;
  cuda::plan p;
  p.shape.m = p.shape.n = p.shape.k = n;
  p.shape.beta_zero = true;
  cuda::complete_device_plan(p, cuda::default_device_profile());
  cuda::executable const what(p);
  auto const a = square(x.A.data()), b = square(x.B.data()), c = square(x.C.data());
  CHECK_THROWS_WITH(
      cuda::gemm<double>(on.stream, on.handle, what, 1.0, a.block(0, 0, n, 9), b.block(0, 0, 9, n), 0.0, c),
      Contains("shape"));
  CHECK_THROWS_WITH(cuda::gemm<double>(on.stream, on.handle, what, 1.0, a, b, 1.0, c), Contains("beta_zero"));
  CHECK_THROWS_WITH(cuda::gemm<double>(on.stream, other.handle, what, 1.0, a, b, 0.0, c), Contains("handle"));
  CHECK_THROWS_WITH(cuda::gemm<double>(on.stream, on.handle, what, 1.0, {x.A.data(), n, n, 2, 2 * n}, b, 0.0, c),
                    Contains("stride"));
}

TEST_CASE("a product whose workspace cannot be had is done with less") {
  integer_squares x(4096);

  // A plan that does not look at what is free.
  cuda::options const wishes{.max_workspace = std::size_t{1} << 60, .force_levels = 2};
  std::size_t const needed = cuda::make_plan<double>(x.shape(), wishes).workspace;
  cudaMemPool_t pool = nullptr;
  require(cudaDeviceGetDefaultMemPool(&pool, 0));
  require(cudaMemPoolTrimTo(pool, 0));
  std::size_t free = 0, total = 0;
  require(cudaMemGetInfo(&free, &total));
  REQUIRE(needed > 0);
  REQUIRE(free > needed);
  void *taken = nullptr, *wanted = nullptr;
  require(cudaMalloc(&taken, free - needed / 2));
  CHECK(cudaMalloc(&wanted, needed) == cudaErrorMemoryAllocation);
  static_cast<void>(cudaGetLastError());
  CHECK_NOTHROW(x.multiply(x.C, wishes));
  x.C.download();
  require(cudaFree(taken));
  CHECK((x.C.host == x.expected.host));  // nobody wants to read them
}
