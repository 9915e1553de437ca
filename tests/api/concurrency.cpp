// SPDX-License-Identifier: BSD-3-Clause
// Many workers, many callers, calls inside tasks, and the same bits from all of them.
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task.h>
#include <oneapi/tbb/task_group.h>

#include <heptad/heptad.h>

#include <heptad/tbb.hpp>

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <thread>
#include <utility>

#include "schedulers/tbb/happens_before.hpp"
#include "tests/api/reference.hpp"

using heptad::test::layout;
using heptad::test::padded_matrix;
using heptad::test::under_test;

namespace {

template <typename T>
struct inputs {
  padded_matrix<T> A, B, C0;
  inputs(std::int64_t m, std::int64_t n, std::int64_t k)
      : A(m, k, layout::columns), B(k, n, layout::columns), C0(m, n, layout::columns) {
    std::mt19937 random(static_cast<unsigned>(m));
    A.fill(random);
    B.fill(random);
    C0.fill(random);
  }
  std::vector<T> multiply(heptad::context& workers, heptad::options const& wishes, T beta = T(1)) const {
    padded_matrix<T> C(C0);
    heptad::gemm(workers, T(0.7), A.read(), B.read(), beta, C.view(), under_test(wishes));
    return C.memory();
  }
};

}  // namespace

TEMPLATE_TEST_CASE("deterministic products have the same bits for 1 to 8 workers, in parallel and one after the other",
                   "", double, float) {
  for (auto const& [m, n, k] : {std::array{300, 280, 260}, std::array{257, 129, 511}, std::array{64, 900, 70}}) {
    inputs<TestType> const x(m, n, k);
    for (int const levels : {-1, 1, 2, 3}) {
      for (TestType const beta : {TestType(0), TestType(1)}) {
        heptad::options wishes;
        wishes.deterministic = true;
        wishes.force_levels = levels;
        wishes.scheduler = heptad::scheduler_kind::sequential;
        heptad::context one(1);
        auto const expected = x.multiply(one, wishes, beta);
        for (int threads = 1; threads <= 8; threads += heptad::test::own_workers ? 1 : 5) {
          INFO(m << " x " << n << " x " << k << ", " << levels << " levels, " << threads << " threads");
          heptad::context workers(threads);
          wishes.scheduler = heptad::scheduler_kind::sequential;
          CHECK((x.multiply(workers, wishes, beta) == expected));
          wishes.scheduler = heptad::scheduler_kind::tbb;
          CHECK((x.multiply(workers, wishes, beta) == expected));
        }
      }
    }
  }
}

TEST_CASE("a product is planned for all workers of a context, more than there are cores, and nothing breaks") {
  heptad::context workers(8);
  CHECK(workers.threads() == 8);
  inputs<double> const x(400, 400, 400);
  heptad::options forced;
  forced.force_levels = 2;
  padded_matrix<double> C(x.C0);
  heptad::report const r = heptad::gemm(workers, 1.0, x.A.read(), x.B.read(), 0.0, C.view(), forced);
  if (heptad::test::own_workers) {
    CHECK(r.plan.workers == 8);
    CHECK(r.busy_seconds.size() == 8);
  }
  CHECK(heptad::test::largest_error(1.0, x.A, x.B, 0.0, x.C0, C) <= heptad::test::tolerance<double>(r.plan, 1, 0));
}

TEST_CASE("8 threads at once on one context each get their own result") {
  heptad::context workers(2);
  heptad::options wishes;
  wishes.deterministic = true;
  wishes.force_levels = 2;
  std::vector<inputs<double>> problems;
  std::vector<std::vector<double>> expected;
  for (int i = 0; i < 8; ++i) problems.emplace_back(150 + 10 * i, 170, 190);
  for (auto const& x : problems) expected.push_back(x.multiply(workers, wishes));
  std::atomic<int> right{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < 8; ++i) {
    callers.emplace_back([&, i] {
      for (int round = 0; round < 5; ++round) right += problems[i].multiply(workers, wishes) == expected[i];
    });
  }
  for (auto& caller : callers) caller.join();
  CHECK(right == 40);
}

namespace {

/// Products called from the tasks of a group inside an arena, by turns on two contexts.
struct nested_calls {
  inputs<double> x{200, 210, 190};
  heptad::options wishes;
  heptad::context &even, &odd;
  std::vector<double> expected;
  std::atomic<int> turn{0}, right{0};

  nested_calls(heptad::context& first, heptad::context& second) : even(first), odd(second) {
    wishes.deterministic = true;
    wishes.force_levels = 1;
    expected = x.multiply(even, wishes);
  }
  void call() { right += x.multiply(turn++ % 2 == 0 ? even : odd, wishes) == expected; }
  void run() {
    oneapi::tbb::task_group group;
    heptad::happens_before(this);
    for (int i = 0; i < 16; ++i) group.run(heptad::tbb_entry<nested_calls, &nested_calls::call>{this});
    group.wait();
    heptad::happens_after(this);
  }
};

/// A product whose task belongs to a group that is cancelled already.
struct cancelled_call {
  heptad::context workers;
  int levels;
  inputs<double> x{300, 300, 300};
  std::atomic<bool> cancelled{false};

  void call() {
    heptad::options forced;
    forced.force_levels = levels;
    oneapi::tbb::task::current_context()->cancel_group_execution();
    try {
      x.multiply(workers, forced);
    } catch (heptad::error const& e) {
      cancelled = e.code() == heptad::status::cancelled;
    }
  }
};

}  // namespace

TEST_CASE("calls inside tasks of the same arena and of another one work") {
  oneapi::tbb::global_control const four(oneapi::tbb::global_control::max_allowed_parallelism, 4);
  oneapi::tbb::task_arena arena(4);
  heptad::context in_arena = heptad::make_context(arena);
  heptad::context own(2);
  CHECK(in_arena.threads() == 4);
  nested_calls calls(in_arena, own);
  heptad::happens_before(&calls);
  arena.execute(heptad::tbb_entry<nested_calls, &nested_calls::run>{&calls});
  heptad::happens_after(&calls);
  CHECK(calls.right == 16);
}

TEST_CASE("the arena of a context outlives a change of its threads, and products run inside it") {
  heptad::context& shared = heptad::default_context();
  REQUIRE(heptad_set_num_threads(3) == HEPTAD_SUCCESS);
  auto const arena = heptad::arena_of(shared);
  CHECK(heptad::arena_of(shared) == arena);
  CHECK(arena->max_concurrency() == 3);
  REQUIRE(heptad_set_num_threads(2) == HEPTAD_SUCCESS);
  CHECK(heptad::arena_of(shared)->max_concurrency() == 2);
  CHECK(heptad::arena_of(shared) != arena);

  inputs<double> const x(160, 170, 180);
  heptad::options wishes;
  wishes.deterministic = true;
  auto const expected = x.multiply(shared, wishes);
  for (auto const& where : {arena, heptad::arena_of(shared)}) {
    std::vector<double> inside;
    where->execute([&] { inside = x.multiply(shared, wishes); });
    CHECK(inside == expected);
  }
  REQUIRE(heptad_set_num_threads(0) == HEPTAD_SUCCESS);

  oneapi::tbb::task_arena own(2);
  heptad::context in_own = heptad::make_context(own);
  CHECK(heptad::arena_of(in_own).get() == &own);
}

TEST_CASE("workers can be set while calls are in progress") {
  inputs<double> const x(160, 170, 180);
  heptad::options wishes;
  wishes.deterministic = true;
  wishes.force_levels = 1;
  heptad::context& shared = heptad::default_context();
  auto const expected = x.multiply(shared, wishes);
  std::atomic<bool> stop{false};
  std::atomic<int> made{0}, wrong{0};
  std::thread caller([&] {
    while (!stop) {
      wrong += x.multiply(shared, wishes) != expected;
      ++made;
      made.notify_one();
    }
  });
  made.wait(0);
  for (int n : {1, 4, 2, 8, 3, 0}) {
    int const before = made;
    CHECK(heptad_set_num_threads(n) == HEPTAD_SUCCESS);
    made.wait(before);
  }
  stop = true;
  caller.join();
  CHECK(made >= 7);
  CHECK(wrong == 0);
}

TEST_CASE("a cancelled task group stops the product with its own code") {
  if (!heptad::test::own_workers) return;  // other runtimes know nothing of TBB's groups
  for (auto const& [threads, levels] : {std::pair{2, 1}, std::pair{1, 0}}) {  // one worker, one task: without the arena
    cancelled_call one{heptad::context(threads), levels};
    oneapi::tbb::task_group group;
    heptad::happens_before(&one);
    group.run(heptad::tbb_entry<cancelled_call, &cancelled_call::call>{&one});
    group.wait();
    heptad::happens_after(&one);
    CHECK(one.cancelled);
  }
}
