// SPDX-License-Identifier: BSD-3-Clause
// Little device memory, and then more of it.
#include <cstdint>
#include <memory>
#include <vector>

#include "schedulers/cuda/check.hpp"
#include "src/api/cuda/device.hpp"
#include "tests/gpu/device.hpp"

using namespace heptad;
using namespace heptad::test;
using Catch::Contains;

namespace {

/// All but so many bytes of the memory that is free, while it lives.
class all_but {
public:
  explicit all_but(std::size_t bytes) {
    cudaMemPool_t pool = nullptr;
    require(cudaDeviceSynchronize());
    require(cudaDeviceGetDefaultMemPool(&pool, 0));
    require(cudaMemPoolTrimTo(pool, 0));
    std::size_t const free = cuda::free_memory();
    REQUIRE(free > bytes);
    require(cudaMalloc(&taken_, free - bytes));
  }
  ~all_but() { cudaFree(taken_); }
  all_but(all_but const&) = delete;
  all_but& operator=(all_but const&) = delete;

private:
  void* taken_ = nullptr;
};

/// The most of the pool that was in use since the last question.
std::size_t most_workspace() {
  cudaMemPool_t pool = nullptr;
  std::uint64_t most = 0, none = 0;
  require(cudaDeviceSynchronize());
  require(cudaDeviceGetDefaultMemPool(&pool, 0));
  require(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &most));
  require(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &none));
  return most;
}

}  // namespace

TEST_CASE("a plan that was made while memory was short is made again when there is more") {
  integer_squares x(2048);
  cuda::options const wishes{.force_levels = 2};
  std::size_t const needed = cuda::make_plan<double>(x.shape(), wishes).workspace;
  REQUIRE(needed > 0);
  (void)most_workspace();
  {
    all_but const taken(needed);  // of which a plan takes half
    x.multiply(x.C, wishes);
    CHECK(most_workspace() < needed);
    x.C.download();
    CHECK((x.C.host == x.expected.host));
  }
  x.multiply(x.C, wishes);
  CHECK(most_workspace() >= needed);
  x.C.download();
  CHECK((x.C.host == x.expected.host));
}

TEST_CASE("a calibration that has too little memory is refused with the bytes that it needs") {
  all_but const taken(std::size_t{198} << 20);
  CHECK_THROWS_WITH(cuda::calibrate("/nowhere/cuda-devices.json"),
                    Contains("calibration needs") && Contains("are free"));
  require(cudaDeviceSynchronize());
}

TEST_CASE("a failure is thrown, and not left in the thread's last error") {
  void* never = nullptr;
  CHECK_THROWS_WITH(cuda::check(cudaMalloc(&never, std::size_t{1} << 60), "memory"), Contains("memory"));
  CHECK(cudaGetLastError() == cudaSuccess);
  CHECK_THROWS_WITH(cuda::check_running(cudaMemcpyAsync(nullptr, nullptr, 8, cudaMemcpyDeviceToDevice), "a copy"),
                    Contains("a copy"));
  CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE("a C of one line and more columns than 2^32 is scaled to its end") {
  constexpr std::int64_t cols = (std::int64_t{1} << 32) + 3, seen = 8;
  std::size_t const bytes = static_cast<std::size_t>(cols) * sizeof(float);
  if (cuda::free_memory() < bytes + (std::size_t{1} << 30)) {
    WARN("skipped: needs 17 GiB of device memory");
    return;
  }
  void* data = nullptr;
  require(cudaMalloc(&data, bytes));
  std::unique_ptr<void, decltype(&cudaFree)> const held(data, &cudaFree);
  auto* const X = static_cast<float*>(data);
  for (std::int64_t const first : {std::int64_t{0}, cols / 2, cols - seen}) {
    std::vector<float> const threes(seen, 3.0F);
    require(cudaMemcpy(X + first, threes.data(), seen * sizeof(float), cudaMemcpyHostToDevice));
  }
  matrix_view<float const> const A{nullptr, 1, 1, 1, 1}, B{nullptr, 1, cols, 1, 1};
  cuda::gemm<float>(nullptr, nullptr, 0.0F, A, B, -2.0F, column_major(X, std::int64_t{1}, cols, std::int64_t{1}));
  require(cudaDeviceSynchronize());
  for (std::int64_t const first : {std::int64_t{0}, cols / 2, cols - seen}) {
    INFO("from column " << first);
    std::vector<float> values(seen);
    require(cudaMemcpy(values.data(), X + first, seen * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(values == std::vector<float>(seen, -6.0F));
  }
}
