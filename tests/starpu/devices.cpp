// SPDX-License-Identifier: BSD-3-Clause
// A second memory node: an OpenCL device, for which PoCL serves the processor. Sums are made on CPU workers, products
// on either, so that operands, sums and results travel both ways.
#include <cstdlib>
#include <heptad/starpu.hpp>
#include <optional>

#include "tests/starpu/runtime.hpp"

using namespace heptad;
using namespace heptad::test;

namespace {

/// One CPU worker and one device.
class two_nodes {
public:
  two_nodes() {
    setenv("STARPU_NCPU", "1", 1);
    setenv("STARPU_NOPENCL", "1", 1);
    setenv("STARPU_OPENCL_ON_CPUS", "1", 1);
    runtime_.emplace("eager");
  }
  ~two_nodes() {
    runtime_.reset();
    setenv("STARPU_NCPU", "2", 1);
    setenv("STARPU_NOPENCL", "0", 1);
  }
  [[nodiscard]] static bool has_device() { return starpu_opencl_worker_get_count() > 0; }

private:
  std::optional<own_starpu> runtime_;
};

}  // namespace

#define SKIP_WITHOUT_DEVICE                                     \
  if (!two_nodes::has_device()) {                               \
    WARN("skipped: no OpenCL device; install pocl-opencl-icd"); \
    return;                                                     \
  }

TEMPLATE_TEST_CASE("a product on a CPU worker and a device together is exact, and both work", "", double, float) {
  using T = TestType;
  two_nodes const nodes;
  SKIP_WITHOUT_DEVICE
  REQUIRE(starpu_memory_nodes_get_count() == 2);
  std::mt19937 random(21);
  handled_matrix<T> A(261, 250, random), B(250, 270, random), C(261, 270, random);
  heptad::context workers(1);
  options blocking;
  blocking.scheduler = scheduler_kind::starpu;
  blocking.force_levels = 2;
  double cpu = 0, device = 0;
  // Who takes a task is the policy's affair: a few rounds, until both have had some.
  for (int round = 0; round < 100 && (cpu == 0 || device == 0); ++round) {
    handled_matrix<T> expected(C);
    T const beta = T(round % 2);
    classical(T(-1), A, false, B, false, beta, expected);
    report const r = gemm<T>(workers, T(-1), column_major<T const>(A.data.data(), A.rows, A.cols, A.ld),
                             column_major<T const>(B.data.data(), B.rows, B.cols, B.ld), beta,
                             column_major(C.data.data(), C.rows, C.cols, C.ld), blocking);
    REQUIRE((C.data == expected.data));
    REQUIRE(r.busy_seconds.size() == 2);
    cpu += r.busy_seconds[0], device += r.busy_seconds[1];
  }
  CHECK(cpu > 0);
  CHECK(device > 0);
}

TEST_CASE("chains of submitted products keep one coherent value of every handle on two memory nodes") {
  two_nodes const nodes;
  SKIP_WITHOUT_DEVICE
  std::mt19937 random(22);
  handled_matrix<double> A(160, 160, random), B(160, 160, random), C(160, 160, random), D(160, 160, random), wanted(C),
      second(D);
  classical(1.0, A, false, B, true, 1.0, wanted);
  classical(-1.0, wanted, true, A, false, 0.0, second);
  classical(1.0, second, false, B, false, 1.0, wanted);
  starpu::submit_options how;
  how.wishes.force_levels = 2;
  how.transpose_b = true;
  (void)starpu::submit_gemm(1.0, A.share(), B.share(), 1.0, C.share(), how);
  how.transpose_b = false, how.transpose_a = true;
  (void)starpu::submit_gemm(-1.0, C.handle, A.handle, 0.0, D.share(), how);
  how.transpose_a = false;
  (void)starpu::submit_gemm(1.0, D.handle, B.handle, 1.0, C.handle, how);
  C.release();
  D.release();
  CHECK((C.data == wanted.data));
  CHECK((D.data == second.data));
}
