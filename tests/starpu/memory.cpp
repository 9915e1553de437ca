// SPDX-License-Identifier: BSD-3-Clause
// Products without memory, before they are submitted and after.
#include <heptad/starpu.hpp>

#include "schedulers/starpu/graph_run.hpp"
#include "src/api/runtime_call.hpp"
#include "tests/new_operators.hpp"
#include "tests/starpu/runtime.hpp"

namespace {

thread_local long allowed = -1;  // allocations of this thread before one fails; negative: any number

bool succeeds() { return allowed < 0 || allowed-- > 0; }

}  // namespace

using namespace heptad;
using namespace heptad::test;

TEST_CASE("whichever allocation of a submission fails, nothing was submitted, and C and its handle are as before") {
  own_starpu const runtime;
  std::mt19937 random(17);
  handled_matrix<double> A(96, 80, random), B(80, 64, random), C(96, 64, random), expected(C);
  classical(2.0, A, false, B, false, 0.0, expected);
  starpu::submit_options how;
  how.wishes.force_levels = 2;
  A.share(), B.share(), C.share();
  auto const submit_with = [&](long allocations) {
    allowed = allocations;
    try {
      (void)starpu::submit_gemm(2.0, A.handle, B.handle, 0.0, C.handle, how);
    } catch (error const& e) {
      allowed = -1;
      CHECK(e.code() == status::out_of_memory);
      return false;
    }
    allowed = -1;
    return true;
  };
  handled_matrix<double> const before(C);
  handled_matrix<double> first(C);
  first.share();
  // Profile, plan and oneTBB's threads are made once in a process, and not what is tested here.
  (void)starpu::submit_gemm(2.0, A.handle, B.handle, 0.0, first.handle, how);
  first.release();
  starpu_task_wait_for_all();
  allocation_succeeds = succeeds;
  long failures = 0;
  while (!submit_with(failures)) {
    ++failures;
    REQUIRE(starpu_task_nready() == 0);
    REQUIRE(starpu_task_nsubmitted() == 0);
    REQUIRE((C.data == before.data));
  }
  allocation_succeeds = nullptr;
  CHECK(failures > 10);  // a single task, as where the levels are fused, is more than that many allocations
  C.release();
  CHECK((C.data == expected.data));
}

TEST_CASE("what a run has recorded is taken without memory: C is done by then") {
  own_starpu const runtime;
  std::mt19937 random(18);
  handled_matrix<double> A(96, 80, random), B(80, 64, random), C(96, 64, random);
  starpu_data_handle_t const handles[3] = {A.share(), B.share(), C.share()};
  auto const call = make_runtime_call(1.0, 1.0, request_for(96, 64, 80, 1));
  call->take_memory();
  starpu::graph_run one(call->product(), handles, {});
  one.prepare();
  one.submit([] {});
  starpu_task_wait_for_all();
  allocation_succeeds = succeeds;
  allowed = 0;
  auto const records = one.take_records();
  allowed = -1;
  allocation_succeeds = nullptr;
  CHECK(records.size() == call->product().work->tasks.size());
}
