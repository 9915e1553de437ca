// SPDX-License-Identifier: BSD-3-Clause
// A second memory node: an OpenCL device, for which PoCL serves the processor. Sums are made on CPU workers, products
// on either, so that operands, sums and results travel both ways. And two nodes of main memory.
#include <heptad/starpu.hpp>

#include "tests/starpu/flight.hpp"
#include "tests/tasks/plans.hpp"

using namespace heptad;
using namespace heptad::test;

namespace {

void set_to_one(double& x) { x = 1; }
void doubled(double& x) { x *= 2; }

}  // namespace

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

TEST_CASE("a deterministic product has the bits of the sequential scheduler where there is a device, too") {
  two_nodes const nodes;
  SKIP_WITHOUT_DEVICE
  std::mt19937 random(24);
  handled_matrix<double> A(151, 133, random), B(133, 160, random), C(151, 160, random);
  for (auto* X : {&A, &B, &C})
    for (double& x : X->data) x = x / 7 + 0.01 * static_cast<double>(random() % 100);
  handled_matrix<double> expected(C);
  starpu::submit_options how;
  how.wishes.deterministic = true;
  how.wishes.force_levels = 1;
  options sequential = how.wishes;
  sequential.scheduler = scheduler_kind::sequential;
  heptad::context alone(1);
  (void)gemm<double>(alone, 0.7, column_major<double const>(A.data.data(), A.rows, A.cols, A.ld),
                     column_major<double const>(B.data.data(), B.rows, B.cols, B.ld), 1.0,
                     column_major(expected.data.data(), C.rows, C.cols, C.ld), sequential);
  A.share(), B.share();
  for (int round = 0; round < 4; ++round) {
    handled_matrix<double> result(C);
    (void)starpu::submit_gemm(0.7, A.handle, B.handle, 1.0, result.share(), how);
    result.release();
    CHECK((result.data == expected.data));
  }
}

TEST_CASE("a result at home in a device's memory is refused, an operand there is read") {
  two_nodes const nodes;
  SKIP_WITHOUT_DEVICE
  std::mt19937 random(23);
  handled_matrix<double> A(96, 80, random), C(96, 64, random), ones(80, 64, random, 0), wanted(C);
  for (double& x : ones.data) x = 1;
  classical(1.0, A, false, ones, false, -1.0, wanted);
  int worker = -1;
  REQUIRE(starpu_worker_get_ids_by_type(STARPU_OPENCL_WORKER, &worker, 1) != 0);
  unsigned const node = starpu_worker_get_memory_node(static_cast<unsigned>(worker));
  std::size_t const bytes = ones.data.size() * sizeof(double);
  std::uintptr_t const memory = starpu_malloc_on_node(node, bytes);
  REQUIRE(memory != 0);
  starpu_data_handle_t B = nullptr;
  starpu_matrix_data_register(&B, static_cast<int>(node), memory, 80, 80, 64, sizeof(double));
  REQUIRE(starpu_task_insert(&(each_element<double, set_to_one, STARPU_W>()), STARPU_W, B, 0) == 0);
  starpu::submit_options how;
  how.wishes.force_levels = 2;
  (void)starpu::submit_gemm(1.0, A.share(), B, -1.0, C.share(), how);
  how.transpose_a = true;
  CHECK_THROWS_WITH(starpu::submit_gemm(1.0, A.handle, C.handle, 0.0, B, how), Catch::Contains("must be main memory"));
  C.release();
  starpu_data_unregister(B);
  starpu_free_on_node(node, memory, bytes);
  CHECK((C.data == wanted.data));
}

TEST_CASE("a part of a matrix that a device has in its memory is a result like any other") {
  two_nodes const nodes;
  SKIP_WITHOUT_DEVICE
  int device = -1;
  REQUIRE(starpu_worker_get_ids_by_type(STARPU_OPENCL_WORKER, &device, 1) != 0);
  starpu::run_options on_device;
  on_device.worker = [device](task const& t) { return std::holds_alternative<sequence_step>(t.body) ? device : -1; };
  std::mt19937 random(26);
  handled_matrix<double> whole(80, 88, random), D(88, 8, random), E(80, 8, random), expected(whole);
  flight<double> reading(test::make_plan("", "", 80, 8, 88, true), 1, 0, {workspace::of_starpu, false, false});
  reading.submit(whole.share(), D.share(), E.share(), on_device);
  starpu_task_wait_for_all();

  starpu_data_filter columns{}, rows{};
  columns.filter_func = starpu_matrix_filter_vertical_block;
  rows.filter_func = starpu_matrix_filter_block;
  columns.nchildren = rows.nchildren = 2;
  starpu_data_handle_t half[2], quarter[2];
  starpu_data_partition_plan(whole.handle, &columns, half);
  starpu_data_partition_plan(half[1], &rows, quarter);
  operands<double> x(test::make_plan("TT", "winograd", 40, 44, 36, false), random);
  for (std::int64_t j = 0; j < 44; ++j)
    for (std::int64_t i = 0; i < 40; ++i) x.C(i, j) = whole(40 + i, 44 + j);
  x.by_definition(1, -1);
  for (std::int64_t j = 0; j < 44; ++j)
    for (std::int64_t i = 0; i < 40; ++i) expected(40 + i, 44 + j) = x.C(i, j);
  flight<double> one(test::make_plan("TT", "winograd", 40, 44, 36, false), 1, -1, {workspace::of_starpu, false, false});
  one.submit(x.A.share(), x.B.share(), quarter[1], on_device);
  starpu_task_wait_for_all();
  starpu_data_partition_clean(half[1], 2, quarter);
  starpu_data_partition_clean(whole.handle, 2, half);
  whole.release(), x.A.release(), x.B.release(), D.release(), E.release();
  CHECK((whole.data == expected.data));
}

TEST_CASE("a result at home in the second node of main memory is whole again for the caller's tasks") {
  two_numa_nodes const nodes;
  REQUIRE(starpu_memory_nodes_get_count() == 2);
  std::mt19937 random(25);
  plan p = test::make_plan("TT", "winograd", 40, 44, 36, false);
  operands<double> x(p, random), expected(x);
  expected.by_definition(-1, 2);
  for (double& e : expected.C.data)
    if (e != expected.C.mark) e *= 2;
  int const home = GENERATE(0, 1);
  x.A.share(1), x.B.share(0), x.C.share(home);
  flight<double> one(p, -1, 2, {workspace::of_starpu, false, false});
  one.submit(x.A.handle, x.B.handle, x.C.handle);
  submit(each_element<double, doubled>(), x.C.handle);
  x.A.release(), x.B.release(), x.C.release();
  starpu_task_wait_for_all();
  CHECK((x.C.data == expected.C.data));
}
