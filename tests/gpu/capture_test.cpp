// SPDX-License-Identifier: BSD-3-Clause
// Calls that are captured into CUDA graphs, and others meanwhile.
#include <memory>
#include <vector>

#include "src/api/cuda/device.hpp"
#include "src/plan/device_planner.hpp"
#include "tests/gpu/device.hpp"

using namespace heptad;
using namespace heptad::test;
using Catch::Contains;

namespace {

constexpr std::int64_t n = 1030;

cuda::executable fused_in_streams() {
  cuda::plan p;
  p.type = element_type::f32;
  p.shape.m = p.shape.n = p.shape.k = n;
  p.shape.beta_zero = true;
  p.stages = {cuda::make_stage("strassen", 1, false, true)};
  p.accumulation = cuda::accumulation::streams;
  cuda::complete_device_plan(p, cuda::default_device_profile());
  return cuda::executable(p);
}

struct operands_on_device {
  device_array<float> A{random_values<float>(n * n, 1)}, B{random_values<float>(n * n, 2)},
      C{std::vector<float>(n * n)}, D{std::vector<float>(n * n)};
  static auto square(device_array<float> const& x) { return column_major(x.data(), n, n, n); }
};

/// A capture of which what was queued so far is made a graph, and launched.
void finish(cudaStream_t stream) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t ready = nullptr;
  require(cudaStreamEndCapture(stream, &graph));
  require(cudaGraphInstantiate(&ready, graph, 0));
  require(cudaGraphLaunch(ready, stream));
  require(cudaStreamSynchronize(stream));
  require(cudaGraphExecDestroy(ready));
  require(cudaGraphDestroy(graph));
}

}  // namespace

TEST_CASE("while one stream is captured, fused products in streams run on another, and join the capture on it") {
  operands_on_device x;
  stream_and_handle on, other;
  cuda::executable const what = fused_in_streams();
  auto const run = [&](stream_and_handle const& by, device_array<float> const& into) {
    cuda::gemm<float>(by.stream, by.handle, what, 1.0F, x.square(x.A), x.square(x.B), 0.0F, x.square(into));
  };
  run(on, x.C);
  x.C.download();
  auto const expected = x.C.host;
  require(cudaMemset(x.C.data(), 0xff, n * n * sizeof(float)));
  for (auto const mode : {cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeGlobal}) {
    require(cudaStreamBeginCapture(on.stream, mode));
    run(on, x.C);
    CHECK_NOTHROW(run(other, x.D));
    CHECK_NOTHROW(run(on, x.C));  // in the same capture
    finish(on.stream);
    x.C.download();
    x.D.download();
    CHECK((x.C.host == expected));
    CHECK((x.D.host == expected));
    require(cudaMemset(x.C.data(), 0xff, n * n * sizeof(float)));
    require(cudaMemset(x.D.data(), 0xff, n * n * sizeof(float)));
  }
}

TEST_CASE("a captured call without a handle is refused where none is idle, and the capture goes on") {
  operands_on_device x;
  stream_and_handle on;
  auto const run = [&](cublasHandle_t by, device_array<float> const& into) {
    cuda::gemm<float>(on.stream, by, 1.0F, x.square(x.A), x.square(x.B), 0.0F, x.square(into));
  };
  run(on.handle, x.C);
  x.C.download();
  auto const expected = x.C.host;
  std::vector<std::unique_ptr<cuda::leased_handle>> held;
  auto const take_all = [&] {
    for (;;) held.push_back(std::make_unique<cuda::leased_handle>(0, on.stream));
  };
  require(cudaStreamBeginCapture(on.stream, cudaStreamCaptureModeThreadLocal));
  CHECK_THROWS_WITH(take_all(), Contains("handle = null") && Contains("captured"));
  try {
    run(nullptr, x.D);
    FAIL("a handle was made");
  } catch (error const& e) {
    CHECK(e.code() == status::invalid_argument);
    CHECK_THAT(e.what(), Contains("handle = null") && Contains("captured"));
  }
  CHECK(cudaGetLastError() == cudaSuccess);
  run(on.handle, x.D);
  finish(on.stream);
  x.D.download();
  CHECK((x.D.host == expected));

  run(nullptr, x.C);  // leaves a handle
  require(cudaMemset(x.D.data(), 0xff, n * n * sizeof(float)));
  captured const replay(on.stream, [&] { run(nullptr, x.D); });
  replay.launch();
  x.D.download();
  CHECK((x.D.host == expected));
}
