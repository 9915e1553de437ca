// SPDX-License-Identifier: BSD-3-Clause
// submit_gemm on the caller's handles: values, order with the caller's tasks, partitions, contexts.
#include <heptad/starpu.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <heptad/starpu.hpp>
#include <limits>
#include <numeric>

#include "src/api/memory.hpp"
#include "tests/starpu/flight.hpp"
#include "tests/starpu/listener.hpp"
#include "tests/tasks/plans.hpp"

using namespace heptad;
using namespace heptad::test;
using heptad::starpu::submit_gemm;
using heptad::starpu::submit_options;

namespace {

submit_options levels(int n) {
  submit_options how;
  how.wishes.force_levels = n;
  return how;
}

template <typename T>
void doubled(T& x) {
  x = 2 * x;
}

void set_to_one(double& x) { x = 1; }

std::promise<void>* gate = nullptr;  // of the task that `held` runs

void wait_for_gate(void*[], void*) { gate->get_future().wait(); }

starpu_codelet& held() {
  static starpu_codelet codelet = [] {
    starpu_codelet c;
    starpu_codelet_init(&c);
    c.cpu_funcs[0] = wait_for_gate;
    c.nbuffers = 1;
    c.modes[0] = STARPU_RW;
    return c;
  }();
  return codelet;
}

}  // namespace

TEMPLATE_TEST_CASE("submitted products equal the definition, for all transposes, levels and leading dimensions", "",
                   double, float) {
  using T = TestType;
  own_starpu const runtime;
  std::mt19937 random(5);
  std::uniform_int_distribution<std::int64_t> size(1, 150);
  for (int trial = 0; trial < 40; ++trial) {
    std::int64_t const m = size(random), n = size(random), k = size(random);
    bool const ta = trial % 2 == 1, tb = trial % 4 >= 2;
    T const alpha = T(trial % 3 - 1), beta = T(trial % 5 - 2);
    handled_matrix<T> A(ta ? k : m, ta ? m : k, random), B(tb ? n : k, tb ? k : n, random), C(m, n, random, trial % 3);
    handled_matrix<T> expected(C);
    classical(alpha, A, ta, B, tb, beta, expected);
    if (beta == T(0))
      for (std::int64_t j = 0; j < n; ++j)
        for (std::int64_t i = 0; i < m; ++i) C(i, j) = std::numeric_limits<T>::quiet_NaN();
    submit_options how = levels(trial % 4);
    how.transpose_a = ta, how.transpose_b = tb;
    how.wishes.deterministic = trial % 7 == 0;
    INFO(m << " x " << n << " x " << k << ", transposes " << ta << tb << ", alpha " << alpha << ", beta " << beta);
    (void)submit_gemm(alpha, A.share(), B.share(), beta, C.share(), how);
    C.release();
    CHECK((C.data == expected.data));
  }
}

TEST_CASE("the C interface gives the same and says what is wrong") {
  own_starpu const runtime;
  std::mt19937 random(6);
  handled_matrix<double> A(90, 70, random), B(80, 90, random), C(70, 80, random), expected(C);
  classical(2.0, A, true, B, true, -1.0, expected);
  REQUIRE(heptad_starpu_dgemm_submit('T', 'c', 2, A.share(), B.share(), -1, C.share(), STARPU_NMAX_SCHED_CTXS) ==
          HEPTAD_SUCCESS);
  CHECK(heptad_starpu_dgemm_submit('x', 'n', 1, A.handle, B.handle, 0, C.handle, STARPU_NMAX_SCHED_CTXS) ==
        HEPTAD_INVALID_ARGUMENT);
  CHECK(std::string(heptad_last_error()).starts_with("transa = 'x' must be"));
  CHECK(heptad_starpu_sgemm_submit('t', 't', 1, A.handle, B.handle, 0, C.handle, STARPU_NMAX_SCHED_CTXS) ==
        HEPTAD_INVALID_ARGUMENT);
  C.release();
  CHECK((C.data == expected.data));
}

TEST_CASE("submitting waits neither for the tasks before nor for the product") {
  own_starpu const runtime;
  std::mt19937 random(7);
  handled_matrix<double> A(64, 64, random), B(64, 64, random), C(64, 64, random), expected(C);
  classical(1.0, A, false, B, false, 1.0, expected);
  std::promise<void> open;
  gate = &open;
  submit(held(), A.share());
  (void)submit_gemm(1.0, A.handle, B.share(), 1.0, C.share(), levels(2));
  open.set_value();  // not reached if that had waited
  C.release();
  CHECK((C.data == expected.data));
}

TEST_CASE("the caller's tasks before and after see whole matrices in their order") {
  own_starpu const runtime;
  std::mt19937 random(8);
  handled_matrix<double> A(96, 96, random), B(96, 96, random), C(96, 96, random), expected(C), twice(A);
  for (double& x : twice.data) x *= 2;
  classical(1.0, twice, false, B, false, 1.0, expected);
  classical(-1.0, B, false, expected, false, 0.0, twice);
  starpu_codelet& twofold = each_element<double, doubled<double>>();
  submit(twofold, A.share());
  (void)submit_gemm(1.0, A.handle, B.share(), 1.0, C.share(), levels(2));
  (void)submit_gemm(-1.0, B.handle, C.handle, 0.0, A.handle, levels(2));
  submit(twofold, A.handle);
  A.release();
  bool same = true;
  for (std::int64_t j = 0; j < 96; ++j)
    for (std::int64_t i = 0; i < 96; ++i) same = same && A(i, j) == 2 * twice(i, j);
  CHECK(same);
}

TEST_CASE("independent products that share operands are in flight together") {
  own_starpu const runtime;
  std::mt19937 random(9);
  handled_matrix<double> A(80, 80, random);
  std::vector<std::unique_ptr<handled_matrix<double>>> results, expected;
  std::promise<void> open;
  gate = &open;
  A.share();
  for (int i = 0; i < 6; ++i) {
    results.push_back(std::make_unique<handled_matrix<double>>(80, 80, random));
    expected.push_back(std::make_unique<handled_matrix<double>>(*results.back()));
    classical(1.0, A, false, A, true, 1.0, *expected.back());
    if (i == 0) submit(held(), results[0]->share());  // the first one cannot even begin
    else results.back()->share();
    submit_options how = levels(1 + i % 2);
    how.transpose_b = true;
    (void)submit_gemm(1.0, A.handle, A.handle, 1.0, results.back()->handle, how);
  }
  for (std::size_t i = 6; i-- > 1;) results[i]->release();  // the others end while it waits
  open.set_value();
  results[0]->release();
  for (std::size_t i = 0; i < 6; ++i) CHECK((results[i]->data == expected[i]->data));
}

TEST_CASE("products in flight stay within StarPU's limit of main memory together, and give it back") {
  constexpr std::int64_t n = 512;
  auto const megabytes = GENERATE(starpu_ssize_t{16}, starpu_ssize_t{1});  // the latter less than packing
  own_starpu const runtime("lws", {{"STARPU_LIMIT_CPU_MEM", megabytes == 1 ? "1" : "16"}});
  auto const left = [] { return starpu_memory_get_available(STARPU_MAIN_RAM); };
  REQUIRE(left() == megabytes << 20);
  std::mt19937 random(19);
  handled_matrix<double> A(n, n, random), B(n, n, random), before(n, n, random), expected(before);
  classical(1.0, A, false, B, false, 1.0, expected);
  std::vector<std::unique_ptr<handled_matrix<double>>> results;
  std::vector<std::size_t> held_bytes;
  std::promise<void> open;
  gate = &open;
  submit(held(), A.share());
  B.share();
  std::string refusal;
  while (refusal.empty() && results.size() < 20) {
    results.push_back(std::make_unique<handled_matrix<double>>(before));
    try {
      held_bytes.push_back(submit_gemm(1.0, A.handle, B.handle, 1.0, results.back()->share(), levels(3)).workspace);
    } catch (error const& e) {
      CHECK(e.code() == status::out_of_memory);
      refusal = e.what();
    }
    if (megabytes > 1) CHECK(left() >= 0);
  }
  CHECK(refusal.find("limit") != std::string::npos);
  if (megabytes == 1) CHECK(held_bytes.size() == 1);  // alone it runs
  else CHECK(held_bytes.front() > held_bytes.back());
  CHECK(left() == (megabytes << 20) - std::accumulate(held_bytes.begin(), held_bytes.end(), starpu_ssize_t{0}));
  open.set_value();
  starpu_task_wait_for_all();
  CHECK(left() == megabytes << 20);
  CHECK((results.back()->data == before.data));
  (void)submit_gemm(1.0, A.handle, B.handle, 1.0, results.back()->handle, levels(3));
  for (auto const& C : results) {
    C->release();
    CHECK((C->data == expected.data));
  }
}

TEST_CASE("a product takes no more memory than StarPU's limit leaves, whatever it would take without") {
  constexpr std::int64_t n = 1024;
  constexpr std::size_t limit = std::size_t{16} << 20;
  own_starpu const runtime("lws", {{"STARPU_LIMIT_CPU_MEM", "16"}});
  std::mt19937 random(20);
  handled_matrix<double> A(n, n, random), C(n, n, random);
  default_context().release_workspace();
  static std::atomic<std::size_t> largest;
  largest = 0;
  set_allocation_gate([](std::size_t bytes) {
    largest = std::max(largest.load(), bytes);
    return true;
  });
  submit_options how = levels(3);
  how.wishes.algorithm = "winograd";
  A.share(), C.share();
  std::size_t const held_bytes = submit_gemm(1.0, A.handle, A.handle, 0.0, C.handle, how).workspace;
  set_allocation_gate(nullptr);
  CHECK(held_bytes <= limit);
  CHECK(largest >= held_bytes);
  CHECK(largest <= limit);
}

TEST_CASE("handles that the caller partitions before, after and around the product stay usable") {
  own_starpu const runtime;
  std::mt19937 random(10);
  handled_matrix<double> A(90, 60, random), B(60, 120, random), C(90, 120, random), expected(C);
  starpu_data_filter halves{};
  halves.filter_func = starpu_matrix_filter_vertical_block;
  halves.nchildren = 2;
  starpu_data_handle_t left_right[2], of_A[2];
  starpu_data_partition_plan(C.share(), &halves, left_right);
  starpu_data_partition_plan(A.share(), &halves, of_A);
  starpu_codelet& twofold = each_element<double, doubled<double>>();
  auto const double_half = [&](int column) {
    for (std::int64_t j = column; j < column + 60; ++j)
      for (std::int64_t i = 0; i < 90; ++i) expected(i, j) *= 2;
  };

  starpu_data_partition_submit(C.handle, 2, left_right);  // explicitly, before
  submit(twofold, left_right[1]);
  starpu_data_unpartition_submit(C.handle, 2, left_right, -1);
  double_half(60);
  (void)submit_gemm(1.0, A.handle, B.share(), 1.0, C.handle, levels(2));
  classical(1.0, A, false, B, false, 1.0, expected);
  handled_matrix<double> changed(A);  // only read until here, and by tasks alone from here on
  submit(twofold, left_right[0]);     // automatically, after, and left open
  submit(twofold, of_A[0]);
  double_half(0);
  for (std::int64_t j = 0; j < 30; ++j)
    for (std::int64_t i = 0; i < 90; ++i) changed(i, j) *= 2;
  (void)submit_gemm(-1.0, A.handle, B.handle, 1.0, C.handle, levels(1));
  classical(-1.0, changed, false, B, false, 1.0, expected);

  starpu_data_partition_clean(C.handle, 2, left_right);
  starpu_data_partition_clean(A.handle, 2, of_A);
  C.release();
  CHECK((C.data == expected.data));
}

TEST_CASE("parts of a matrix are operands like whole ones") {
  own_starpu const runtime;
  std::mt19937 random(11);
  std::int64_t const n = 64;
  handled_matrix<double> whole(2 * n, 2 * n, random), expected(whole);
  starpu_data_filter rows{}, columns{};
  rows.filter_func = starpu_matrix_filter_block;
  columns.filter_func = starpu_matrix_filter_vertical_block;
  rows.nchildren = columns.nchildren = 2;
  starpu_data_handle_t half[2], quarter[4];
  starpu_data_partition_plan(whole.share(), &columns, half);
  for (int i = 0; i < 2; ++i) starpu_data_partition_plan(half[i], &rows, &quarter[2 * i]);
  // The last step of an LU factorisation by blocks: A22 −= A21 A12.
  (void)submit_gemm(-1.0, quarter[1], quarter[2], 1.0, quarter[3], levels(2));
  for (std::int64_t j = n; j < 2 * n; ++j)
    for (std::int64_t i = n; i < 2 * n; ++i)
      for (std::int64_t k = 0; k < n; ++k) expected(i, j) -= whole(i, k) * whole(k, j);
  for (int i = 0; i < 2; ++i) starpu_data_partition_clean(half[i], 2, &quarter[2 * i]);
  starpu_data_partition_clean(whole.handle, 2, half);
  whole.release();
  CHECK((whole.data == expected.data));
}

TEST_CASE("operands that StarPU allocates are read, and such a result is refused, whether it has memory or not yet") {
  own_starpu const runtime;
  std::mt19937 random(12);
  handled_matrix<double> A(70, 50, random), C(70, 60, random), ones(50, 60, random), expected(C);
  for (double& x : ones.data) x = 1;
  classical(1.0, A, false, ones, false, 1.0, expected);
  starpu_data_handle_t B = nullptr;
  starpu_matrix_data_register(&B, -1, 0, 50, 50, 60, sizeof(double));
  auto const refused = Catch::Contains("C has home node -1, which must be main memory");
  CHECK_THROWS_WITH(submit_gemm(1.0, A.share(), C.share(), 0.0, B, {.transpose_a = true}), refused);
  REQUIRE(starpu_task_insert(&(each_element<double, set_to_one, STARPU_W>()), STARPU_W, B, 0) == 0);
  starpu_task_wait_for_all();
  CHECK_THROWS_WITH(submit_gemm(1.0, A.handle, C.handle, 0.0, B, {.transpose_a = true}), refused);
  (void)submit_gemm(1.0, A.handle, B, 1.0, C.handle, levels(1));
  starpu_data_unregister_submit(B);
  C.release();
  CHECK((C.data == expected.data));
}

TEST_CASE("a result whose value was dropped is only written") {
  own_starpu const runtime;
  std::mt19937 random(16);
  handled_matrix<double> A(70, 50, random), B(50, 60, random), C(70, 60, random), expected(C);
  classical(1.0, A, false, B, false, 0.0, expected);
  C.share();
  starpu_data_invalidate_submit(C.handle);
  (void)submit_gemm(1.0, A.share(), B.share(), 0.0, C.handle, levels(1));
  C.release();
  CHECK((C.data == expected.data));
}

TEST_CASE("a scheduling context keeps the product on its workers") {
  own_starpu const runtime;
  int one = 1;
  unsigned const context = starpu_sched_ctx_create(&one, 1, "one", STARPU_SCHED_CTX_POLICY_NAME, "lws", 0);
  std::mt19937 random(13);
  handled_matrix<double> A(100, 100, random), B(100, 100, random), C(100, 100, random), expected(C);
  classical(1.0, A, false, B, false, 1.0, expected);
  submit_options how = levels(2);
  how.sched_ctx = context;
  listener const ear;
  plan const planned = submit_gemm(1.0, A.share(), B.share(), 1.0, C.share(), how);
  CHECK(planned.workers == 1);
  for (heard::task const& t : ear.so_far().tasks) CHECK(t.sched_ctx == context);
  C.release();
  CHECK((C.data == expected.data));
  starpu_task_wait_for_all();
  starpu_sched_ctx_delete(context);
}

TEST_CASE("the scheduling context of the calling thread is the current one, with its workers alone") {
  own_starpu const runtime;
  int one = 1;
  unsigned context = starpu_sched_ctx_create(&one, 1, "one", STARPU_SCHED_CTX_POLICY_NAME, "lws", 0);
  std::mt19937 random(20);
  handled_matrix<double> A(100, 100, random), B(100, 100, random), C(100, 100, random), expected(C);
  classical(1.0, A, false, B, false, 1.0, expected);
  starpu_sched_ctx_set_context(&context);
  plan const planned = submit_gemm(1.0, A.share(), B.share(), 1.0, C.share(), levels(2));
  starpu_sched_ctx_set_context(nullptr);
  CHECK(planned.workers == 1);
  C.release();
  CHECK((C.data == expected.data));
  starpu_task_wait_for_all();
  starpu_sched_ctx_delete(context);
}

TEST_CASE("all tasks of a graph are in its scheduling context, and so is the access to C before them") {
  own_starpu const runtime;
  int one = 1;
  unsigned const context = starpu_sched_ctx_create(&one, 1, "one", STARPU_SCHED_CTX_POLICY_NAME, "lws", 0);
  double const beta = GENERATE(0, 1);
  plan const p = test::make_plan("TT", "winograd", 40, 44, 36, beta == 0);
  std::mt19937 random(18);
  operands<double> x(p, random), expected(x);
  expected.by_definition(1, beta);
  x.share();
  flight<double> product(p, 1, beta, {workspace::of_starpu, false, false});
  heptad::starpu::run_options how;
  how.sched_ctx = context;
  listener const ear;
  product.submit(x.A.handle, x.B.handle, x.C.handle, how);
  heard const h = ear.so_far();
  CHECK(h.tasks.size() == product.tasks().size() + 1);
  for (heard::task const& t : h.tasks) CHECK(t.sched_ctx == context);
  x.C.release(), x.A.release(), x.B.release();
  CHECK((x.C.data == expected.C.data));
  starpu_task_wait_for_all();
  starpu_sched_ctx_delete(context);
}

TEMPLATE_TEST_CASE("deterministic submissions have the bits of the sequential scheduler", "", double, float) {
  using T = TestType;
  own_starpu const runtime;
  std::mt19937 random(14);
  for (int trial = 0; trial < 6; ++trial) {
    handled_matrix<T> A(151, 133, random), B(133, 160, random), C(151, 160, random);
    for (auto* X : {&A, &B, &C})
      for (T& x : X->data) x = x / T(7) + T(0.01) * static_cast<T>(random() % 100);
    handled_matrix<T> expected(C);
    submit_options how = levels(trial % 4);
    how.wishes.deterministic = true;
    options sequential = how.wishes;
    sequential.scheduler = scheduler_kind::sequential;
    heptad::context workers(2);
    (void)gemm<T>(workers, T(0.7), column_major<T const>(A.data.data(), A.rows, A.cols, A.ld),
                  column_major<T const>(B.data.data(), B.rows, B.cols, B.ld), T(trial % 2),
                  column_major(expected.data.data(), C.rows, C.cols, C.ld), sequential);
    (void)submit_gemm(T(0.7), A.share(), B.share(), T(trial % 2), C.share(), how);
    C.release();
    CHECK((C.data == expected.data));
  }
}
