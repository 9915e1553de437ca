// SPDX-License-Identifier: BSD-3-Clause
// What submit_gemm and the blocking call refuse, before anything is submitted.
#include <atomic>
#include <heptad/starpu.hpp>
#include <string>

#include "schedulers/starpu/graph_run.hpp"
#include "src/api/memory.hpp"
#include "src/api/runtime_call.hpp"
#include "tests/starpu/listener.hpp"
#include "tests/starpu/runtime.hpp"

using namespace heptad;
using namespace heptad::test;
using heptad::starpu::submit_gemm;

namespace {

std::string message_of(auto const& call, status code = status::invalid_argument) {
  try {
    call();
  } catch (error const& e) {
    CHECK(e.code() == code);
    return e.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("without StarPU there is nothing to submit to") {
  REQUIRE(starpu_is_initialized() == 0);
  starpu_data_handle_t const none = nullptr;
  CHECK(message_of([&] { (void)submit_gemm(1.0, none, none, 0.0, none); }).starts_with("StarPU is not initialised"));
}

TEST_CASE("handles that do not make a product are named") {
  own_starpu const runtime;
  std::mt19937 random(1);
  handled_matrix<double> A(20, 30, random), B(30, 40, random), C(20, 40, random), before(C);
  handled_matrix<float> single(20, 30, random);
  A.share(), B.share(), C.share(), single.share();
  std::vector<double> numbers(20 * 30);
  starpu_data_handle_t vector = nullptr;
  starpu_vector_data_register(&vector, STARPU_MAIN_RAM, reinterpret_cast<std::uintptr_t>(numbers.data()), 600, 8);
  auto const call = [](starpu_data_handle_t x, starpu_data_handle_t y, starpu_data_handle_t z,
                       starpu::submit_options const& how = {}) {
    return message_of([&] { (void)submit_gemm(1.0, x, y, 0.0, z, how); });
  };
  CHECK(call(nullptr, B.handle, C.handle) == "A = null must be a matrix handle");
  CHECK(call(vector, B.handle, C.handle) == "A must be a handle of starpu_matrix_data_register");
  CHECK(call(single.handle, B.handle, C.handle) == "A has elements of 4 bytes, which must be 8");
  CHECK(call(A.handle, A.handle, C.handle) == "rows of op(B) = 20 must be columns of op(A) = 30");
  CHECK(call(B.handle, B.handle, C.handle) == "rows of op(A) = 30 must be rows of C = 20");
  CHECK(call(A.handle, B.handle, B.handle).starts_with("rows of op(A) = 20 must be"));
  starpu::submit_options how;
  how.transpose_b = true;
  CHECK(call(A.handle, B.handle, C.handle, how) == "rows of op(B) = 40 must be columns of op(A) = 30");
  how = {};
  how.wishes.max_error = 0;
  CHECK(call(A.handle, B.handle, C.handle, how) == "max_error = 0 must be at least 1");
  how = {};
  how.sched_ctx = 4711;
  CHECK(call(A.handle, B.handle, C.handle, how).starts_with("sched_ctx = 4711 must be"));
  handled_matrix<double> square(20, 20, random);
  square.share();
  CHECK(call(square.handle, square.handle, square.handle) == "C must be another handle than A");
  starpu_data_unregister(vector);
  C.release();
  CHECK((C.data == before.data));
}

TEST_CASE("without a CPU worker nothing is submitted") {
  {
    two_nodes const nodes;
    SKIP_WITHOUT_DEVICE  // without any worker StarPU does not start
  }
  own_starpu const runtime("eager", {{"STARPU_NCPU", "0"}, {"STARPU_NOPENCL", "1"}, {"STARPU_OPENCL_ON_CPUS", "1"}});
  REQUIRE(starpu_cpu_worker_get_count() == 0);
  std::mt19937 random(2);
  handled_matrix<double> A(8, 8, random), B(8, 8, random), C(8, 8, random), before(C);
  CHECK(message_of([&] {
          (void)submit_gemm(1.0, A.share(), B.share(), 0.0, C.share());
        }).starts_with("StarPU has no CPU worker"));
  A.release(), B.release(), C.release();
  CHECK((C.data == before.data));
}

TEST_CASE("a current context without a CPU worker is refused, though StarPU has one") {
  two_nodes const nodes;
  SKIP_WITHOUT_DEVICE
  int device = 0;
  REQUIRE(starpu_worker_get_ids_by_type(STARPU_OPENCL_WORKER, &device, 1) == 1);
  unsigned context = starpu_sched_ctx_create(&device, 1, "device", STARPU_SCHED_CTX_POLICY_NAME, "eager", 0);
  std::mt19937 random(7);
  handled_matrix<double> A(8, 8, random), B(8, 8, random), C(8, 8, random), before(C);
  A.share(), B.share(), C.share();
  listener const ear;
  starpu_sched_ctx_set_context(&context);
  std::string const said = message_of([&] { (void)submit_gemm(1.0, A.handle, B.handle, 0.0, C.handle); });
  starpu_sched_ctx_set_context(nullptr);
  CHECK(said.starts_with("StarPU has no CPU worker"));
  CHECK(ear.so_far().tasks.empty());
  A.release(), B.release(), C.release();
  CHECK((C.data == before.data));
  starpu_sched_ctx_delete(context);
}

TEST_CASE("no memory is an error before anything is submitted") {
  own_starpu const runtime;
  std::mt19937 random(3);
  handled_matrix<double> A(300, 300, random), B(300, 300, random), C(300, 300, random), before(C);
  A.share(), B.share(), C.share();
  set_allocation_gate([](std::size_t) { return false; });
  std::string const said =
      message_of([&] { (void)submit_gemm(1.0, A.handle, B.handle, 1.0, C.handle); }, status::out_of_memory);
  set_allocation_gate(nullptr);
  CHECK(said.find("C is untouched") != std::string::npos);
  C.release();
  CHECK((C.data == before.data));
}

TEST_CASE("a task that StarPU refuses is an error, the tasks before it end, and StarPU and the handles go on") {
  // A device that nobody has is to run one task.
  struct : stream_tasks {
    int which = 0;
    mutable int asked = 0;
    [[nodiscard]] bool knows(task const&) const noexcept override { return asked++ == which; }
    void queue_at(task const&, std::span<location const>, double, double, CUstream_st*) const override {}
  } nowhere;
  nowhere.which = GENERATE(0, 1, 4);
  own_starpu const runtime;
  std::mt19937 random(5);
  handled_matrix<double> A(201, 160, random), B(160, 190, random), C(201, 190, random), wanted(C);
  starpu_data_handle_t const handles[3] = {A.share(), B.share(), C.share()};
  runtime_request request = request_for(201, 190, 160, 2);
  request.with_workspace = GENERATE(true, false);
  auto const call = make_runtime_call(1.0, 1.0, request);
  call->take_memory();
  bound_product product = call->product();
  REQUIRE(product.work->tasks.size() > 4);
  product.on_devices = &nowhere;
  product.only_on_devices = true;
  std::atomic<bool> ended = false;
  {
    starpu::graph_run one(product, handles, {});
    one.prepare();
    listener const ear;
    CHECK(message_of([&] { one.submit([&] { ended = true; }); }, status::internal_error)
              .starts_with("StarPU refused a task"));
    heard const h = ear.so_far();
    CHECK(h.of_graph().size() < product.work->tasks.size());
    CHECK(h.tasks.back().where == STARPU_CUDA);  // nothing was submitted after it
    starpu_task_wait_for_all();
    CHECK(ended);
  }
  classical(2.0, A, false, B, false, 0.0, wanted);
  (void)submit_gemm(2.0, A.handle, B.handle, 0.0, C.handle);
  C.release();
  CHECK((C.data == wanted.data));
}

TEST_CASE("a product that finds little memory is planned smaller") {
  own_starpu const runtime;
  std::mt19937 random(4);
  handled_matrix<double> A(512, 512, random), B(512, 512, random), C(512, 512, random), expected(C);
  classical(1.0, A, false, B, false, 1.0, expected);
  starpu::submit_options how;
  how.wishes.force_levels = 2;
  std::size_t const wanted = submit_gemm(0.0, A.share(), B.share(), 1.0, C.share(), how).workspace;
  CHECK(wanted == 0);  // alpha = 0 takes nothing
  set_allocation_gate([](std::size_t bytes) { return bytes < (std::size_t{9} << 20); });
  plan const small = submit_gemm(1.0, A.handle, B.handle, 1.0, C.handle, how);
  set_allocation_gate(nullptr);
  CHECK(small.workspace < (std::size_t{9} << 20));
  C.release();
  CHECK((C.data == expected.data));
}

namespace {

std::string refusal;

void call_inside(void*[], void*) {
  std::vector<double> x(64 * 64 * 8, 1), y(x), z(x);
  options blocking;
  blocking.scheduler = scheduler_kind::starpu;
  blocking.force_levels = 1;
  heptad::context workers(2);
  try {
    auto const view = [](auto& v) { return column_major(v.data(), 128, 128, 128); };
    (void)gemm<double>(workers, 1, view(x), view(y), 0, view(z), blocking);
  } catch (error const& e) {
    refusal = e.what();
  }
}

}  // namespace

TEST_CASE("a blocking product inside a StarPU task is an error, not a deadlock") {
  own_starpu const runtime;
  static starpu_codelet codelet;
  starpu_codelet_init(&codelet);
  codelet.cpu_funcs[0] = call_inside;
  REQUIRE(starpu_task_insert(&codelet, 0) == 0);
  starpu_task_wait_for_all();
  CHECK(refusal.find("must not be called from a StarPU task") != std::string::npos);
}

namespace {

void multiply_blocking(heptad::context& workers, handled_matrix<double>& A, handled_matrix<double>& B, double beta,
                       handled_matrix<double>& C) {
  options blocking;
  blocking.scheduler = scheduler_kind::starpu;
  auto const view = [](auto& X) { return column_major(X.data.data(), X.rows, X.cols, X.ld); };
  (void)gemm<double>(workers, 1, view(A), view(B), beta, view(C), blocking);
}

}  // namespace

TEST_CASE("a StarPU that the caller has started is used, and neither paused nor ended") {
  own_starpu const runtime;
  std::mt19937 random(5);
  handled_matrix<double> A(200, 200, random), B(200, 200, random), C(200, 200, random), expected(C);
  classical(1.0, A, false, B, false, 1.0, expected);
  heptad::context workers(2);
  multiply_blocking(workers, A, B, 1, C);
  CHECK((C.data == expected.data));
  CHECK(starpu_is_initialized() == 1);
  (void)submit_gemm(-1.0, A.share(), B.share(), 1.0, C.share());  // would never end on a paused StarPU
  classical(-1.0, A, false, B, false, 1.0, expected);
  C.release();
  CHECK((C.data == expected.data));
}

TEST_CASE("after blocking products StarPU can be ended and started by the caller") {
  std::mt19937 random(6);
  handled_matrix<double> A(200, 200, random), B(200, 200, random), C(200, 200, random), expected(C);
  heptad::context workers(2);
  for (int round = 0; round < 2; ++round) {
    multiply_blocking(workers, A, B, 1, C);
    classical(1.0, A, false, B, false, 1.0, expected);
    CHECK((C.data == expected.data));
    starpu::shutdown();
    CHECK(starpu_is_initialized() == 0);
    own_starpu const runtime;
    (void)submit_gemm(1.0, A.share(), B.share(), 1.0, C.share());
    classical(1.0, A, false, B, false, 1.0, expected);
    A.release(), B.release(), C.release();
    CHECK((C.data == expected.data));
  }
}

TEST_CASE("a StarPU that the caller starts after ending Heptad's is the caller's: neither paused nor ended") {
  std::mt19937 random(8);
  handled_matrix<double> A(200, 200, random), B(200, 200, random), C(200, 200, random), expected(C);
  heptad::context workers(2);
  auto const product = [&] { multiply_blocking(workers, A, B, 0, C); };
  product();
  starpu_resume();  // StarPU does not end while it is paused
  starpu_shutdown();
  own_starpu const runtime;
  product();
  classical(1.0, A, false, B, false, 0.0, expected);
  CHECK((C.data == expected.data));
  starpu::shutdown();
  REQUIRE(starpu_is_initialized() == 1);
  (void)submit_gemm(1.0, A.share(), B.share(), 0.0, C.share());
  A.release(), B.release(), C.release();
  CHECK((C.data == expected.data));
}
