// SPDX-License-Identifier: BSD-3-Clause
// What StarPU is asked for beside the values: who comes first, on which workers, with which handles, and when workers
// may sleep.
#include <algorithm>
#include <future>
#include <heptad/starpu.hpp>
#include <mutex>

#include "tests/schedulers/hand_made.hpp"
#include "tests/starpu/flight.hpp"
#include "tests/starpu/listener.hpp"
#include "tests/tasks/plans.hpp"

using namespace heptad;
using namespace heptad::test;

namespace {

/// A StarPU with one worker under `prio`, which does nothing until go().
class one_worker {
public:
  one_worker() {
    codelet().cpu_funcs[0] = [](void*[], void* gate) { static_cast<std::promise<void>*>(gate)->get_future().wait(); };
    REQUIRE(starpu_task_insert(&codelet(), STARPU_CL_ARGS_NFREE, &gate_, sizeof gate_, STARPU_PRIORITY, 1000, 0) == 0);
  }
  void go() {
    gate_.set_value();
    starpu_task_wait_for_all();
  }

private:
  static starpu_codelet& codelet() {
    static starpu_codelet one{};
    return one;
  }
  std::promise<void> gate_;
  own_starpu runtime_{"prio", {{"STARPU_NCPU", "1"}}};
};

/// Remembers the columns of C that its tasks, which scale a column each, are called for.
class column_recorder final : public executor {
public:
  explicit column_recorder(handled_matrix<double> const& C) : C_(C) {}
  [[nodiscard]] std::size_t scratch_bytes() const noexcept override { return 0; }
  void run(task const&, std::byte*) const noexcept override { order.push_back(-1); }
  void run_at(task const&, std::span<location const> spaces, std::byte*) const noexcept override {
    order.push_back((static_cast<double const*>(spaces[0].data) - C_.data.data()) / C_.ld);
  }
  mutable std::vector<std::int64_t> order;

private:
  handled_matrix<double> const& C_;
};

using algorithm_pointer = std::shared_ptr<algorithm const>;

algorithm_pointer const winograd = find_algorithm("winograd"), direct = std::make_shared<algorithm const>(sheared());

/// Task levels on 40×48×40.
plan of_levels(std::initializer_list<algorithm_pointer> levels) {
  plan p = test::make_plan("", "", 40, 48, 40, false);
  for (algorithm_pointer const& x : levels) p.levels.push_back({x->name, level_kind::task, x});
  p.core_m = p.core_k = 40, p.core_n = 48;
  p.workers = 2, p.slots = 4;
  return p;
}

/// Shared operands, and their handles are gone after it.
void submit_in(flight<double>& one, operands<double>& x, starpu::run_options const& how = {}) {
  one.submit(x.A.handle, x.B.handle, x.C.handle, how);
  x.C.release(), x.A.release(), x.B.release();
  starpu_task_wait_for_all();
}

}  // namespace

TEST_CASE("in main memory tasks run by the priorities of the graph, from the given one downwards, on CPU workers") {
  one_worker worker;
  hand_made x(6);
  std::vector<int> const priorities = {3, 9, 1, 9, -5, 4}, ranks = {3, 0, 4, 1, 5, 2};
  for (std::size_t t = 0; t < 6; ++t) x.graph.tasks[t].priority = priorities[t];
  std::vector<int> order;
  calling_executor const body(x.graph, [&](int t, std::byte*) { order.push_back(t); });
  bound_product product;
  product.work = &x.graph, product.order = &x.dependencies, product.body = &body;
  product.scratch = [](int) { return nullptr; };
  starpu_data_handle_t const none[3] = {};
  starpu::run_options how;
  how.priority = 70;
  listener const ear;
  starpu::graph_run run(product, none, how);
  run.prepare();
  run.submit([] {});
  worker.go();
  CHECK(order == std::vector<int>{1, 3, 5, 0, 2, 4});
  heard const h = ear.so_far();
  REQUIRE(h.tasks.size() == 6);
  for (std::size_t t = 0; t < 6; ++t) {
    CHECK(h.tasks[t].priority == 70 - ranks[t]);
    CHECK(h.tasks[t].where == STARPU_CPU);  // a device could not reach what they work on
  }
}

TEST_CASE("where data moves, tasks run by the longest path to the end, their own time included") {
  one_worker worker;
  std::mt19937 random(61);
  handled_matrix<double> A(4, 4, random), B(4, 4, random), C(4, 3, random);
  // Program order, the tasks' own times, and the times of what comes after them would each begin with another column.
  graph g;
  g.m = g.k = 4, g.n = 3;
  struct {
    std::int64_t column;
    double seconds;
  } const of_tasks[] = {{0, 5}, {1, 1}, {2, 2}, {1, 7}, {2, 4}, {1, 0.5}};
  for (auto const& [column, seconds] : of_tasks) {
    block const b{space_C, 0, column, 4, 1};
    task t;
    t.name = "column " + std::to_string(column);
    t.body = scale_step{b};
    t.accesses = {{b, access_mode::write}};
    t.cost.seconds = seconds;
    t.priority = -static_cast<int>(g.tasks.size());
    g.tasks.push_back(t);
  }
  dependencies const d = derive_dependencies(g, false);
  column_recorder const body(C);
  bound_product product;
  product.work = &g, product.order = &d, product.body = &body;
  product.beta = 2;
  product.scratch = [](int) { return nullptr; };
  starpu_data_handle_t const handles[3] = {A.share(), B.share(), C.share()};
  starpu::graph_run run(product, handles, {});
  run.prepare();
  run.submit([] {});
  worker.go();
  // Left to the end: 5 | 8.5, 7.5, 0.5 | 6, 4.
  CHECK(body.order == std::vector<std::int64_t>{1, 1, 2, 0, 2, 1});
}

TEST_CASE("a product takes its turn among the caller's tasks by the priority that it is given") {
  one_worker worker;
  std::mt19937 random(62);
  handled_matrix<double> A(64, 64, random), B(64, 64, random), C(64, 64, random), before(C), expected(C);
  classical(1.0, A, false, B, false, 1.0, expected);
  static starpu_codelet look;
  starpu_codelet_init(&look);
  struct sight {
    handled_matrix<double>* C;
    std::vector<double> seen;
  } urgent{&C, {}}, patient{&C, {}};
  look.cpu_funcs[0] = [](void*[], void* argument) {
    auto& s = *static_cast<sight*>(argument);
    s.seen = s.C->data;
  };
  starpu::submit_options how;
  how.wishes.force_levels = 1;
  how.priority = 500;
  A.share(), B.share(), C.share();
  REQUIRE(starpu_task_insert(&look, STARPU_CL_ARGS_NFREE, &patient, sizeof patient, STARPU_PRIORITY, 400, 0) == 0);
  (void)starpu::submit_gemm(1.0, A.handle, B.handle, 1.0, C.handle, how);
  REQUIRE(starpu_task_insert(&look, STARPU_CL_ARGS_NFREE, &urgent, sizeof urgent, STARPU_PRIORITY, 600, 0) == 0);
  worker.go();
  CHECK((urgent.seen == before.data));
  CHECK((patient.seen == expected.data));
}

TEST_CASE("in a scheduling context every task is of that context, with priorities that it has") {
  own_starpu const runtime;
  int one = 1;
  unsigned const context =
      starpu_sched_ctx_create(&one, 1, "one", STARPU_SCHED_CTX_POLICY_NAME, "prio", STARPU_SCHED_CTX_POLICY_MIN_PRIO, 2,
                              STARPU_SCHED_CTX_POLICY_MAX_PRIO, 5, 0);
  std::mt19937 random(63);
  plan p = of_levels({winograd, winograd});
  for (bool const beta_zero : {false, true}) {
    p.shape.beta_zero = beta_zero;
    operands<double> x(p, random), expected(x);
    expected.by_definition(1, beta_zero ? 0 : 1);
    x.share();
    flight<double> product(p, 1, beta_zero ? 0 : 1, {workspace::of_starpu, false, false});
    starpu::run_options how;
    how.sched_ctx = context;
    how.priority = 4;
    listener const ear;
    submit_in(product, x, how);
    heard const h = ear.so_far();
    CHECK(h.of_graph().size() == product.tasks().size());
    CHECK(h.tasks.size() == product.tasks().size() + 1);  // and an access to the whole of C
    for (heard::task const& t : h.tasks) {
      CHECK(t.sched_ctx == context);
      CHECK((t.priority >= 2 && t.priority <= 4));
    }
    CHECK(std::ranges::min(h.tasks, {}, &heard::task::priority).priority == 2);
    CHECK(std::ranges::max(h.tasks, {}, &heard::task::priority).priority == 4);
    CHECK((x.C.data == expected.C.data));
  }
  starpu_sched_ctx_delete(context);
}

TEST_CASE("every handle that a product registers is unregistered, and only what has no handle needs a lock") {
  own_starpu const runtime;
  std::mt19937 random(64);
  // Of the direct algorithm every product is added to blocks of C, or of the workspace of a Winograd level around it.
  for (algorithm_pointer const& outer : {direct, winograd})
    for (workspace const where : {workspace::of_the_product, workspace::of_starpu}) {
      plan const p = of_levels({outer, direct, direct});
      INFO(outer->name << ", workspace of " << (where == workspace::of_starpu ? "StarPU" : "the product"));
      operands<double> given(p, random);
      given.share();
      flight<double> one(p, 1, 1, {where, false, false});
      listener const ear;
      submit_in(one, given);
      heard const h = ear.so_far();
      CHECK(h.registered.empty());
      CHECK((h.matrices > 0) == (where == workspace::of_starpu));
      CHECK((h.locks > 0) == (where == workspace::of_the_product && outer == winograd));
    }
}

TEST_CASE("what touches a fixed address stays on CPU workers, and what finds all of it in handles may go to devices") {
  own_starpu const runtime;
  std::mt19937 random(65);
  plan const p = of_levels({winograd, winograd});
  operands<double> x(p, random);
  x.share();
  flight<double> one(p, 1, 1, {workspace::of_the_product, false, false});
  listener const ear;
  submit_in(one, x);
  auto const heard_tasks = ear.so_far().of_graph();
  REQUIRE(heard_tasks.size() == one.tasks().size());
  int free = 0, bound = 0;
  for (std::size_t t = 0; t < heard_tasks.size(); ++t) {
    bool const fixed = std::ranges::any_of(one.tasks()[t].accesses,
                                           [](heptad::access const& a) { return a.where.space >= first_buffer; });
    INFO(heard_tasks[t].name);
    CHECK(heard_tasks[t].name == one.tasks()[t].name);
    CHECK(heard_tasks[t].where == (fixed ? STARPU_CPU : STARPU_CPU | STARPU_OPENCL));
    ++(fixed ? bound : free);
  }
  CHECK(free > 0);
  CHECK(bound > 0);
}

TEST_CASE("the workers of a StarPU that Heptad started sleep after every blocking product, and only then") {
  starpu::shutdown();
  std::mt19937 random(66);
  handled_matrix<double> A(200, 200, random), B(200, 200, random), C(200, 200, random);
  heptad::context workers(2);
  options blocking;
  blocking.scheduler = scheduler_kind::starpu;
  auto const call = [&] {
    auto const view = [](auto& X) { return column_major(X.data.data(), X.rows, X.cols, X.ld); };
    (void)gemm<double>(workers, 1, view(A), view(B), 1, view(C), blocking);
  };
  {
    listener const ear;
    for (int calls = 1; calls <= 3; ++calls) {
      call();
      CHECK(ear.so_far().resumes == calls);
      CHECK(ear.so_far().pauses == calls + 1);  // and when it was started
    }
  }
  starpu::shutdown();
  own_starpu const runtime;
  listener const ear;
  call();
  CHECK(ear.so_far().resumes == 0);
  CHECK(ear.so_far().pauses == 0);
}
