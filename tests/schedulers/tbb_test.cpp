// SPDX-License-Identifier: BSD-3-Clause
// What run_tbb promises of one call: order, exclusion, limits, scratch, records, cancellation.
// Tasks count in atomics; Catch's assertions stay on the test's own thread.
#include "schedulers/tbb/tbb_scheduler.hpp"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task.h>
#include <oneapi/tbb/task_group.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cfenv>
#include <memory>
#include <set>
#include <thread>

#include "schedulers/sequential/sequential.hpp"
#include "schedulers/tbb/happens_before.hpp"
#include "tests/schedulers/hand_made.hpp"

namespace tbb = oneapi::tbb;
using namespace heptad;
using namespace heptad::test;

namespace {

/// TBB starts no more threads than cores unless told: the tests want eight workers on any machine.
struct eight_threads {
  tbb::global_control limit{tbb::global_control::max_allowed_parallelism, 8};
};

/// Work long enough for another worker to come in between, by counting, not by the clock.
void linger(std::atomic<int>& somewhere) {
  for (int i = 0; i < 200; ++i) somewhere.fetch_add(1, std::memory_order_relaxed);
  std::this_thread::yield();
}

}  // namespace

TEST_CASE("every task runs once and after its predecessors, for 1 to 8 workers") {
  eight_threads const limit;
  hand_made const x = random_graph(400, 1);
  std::vector<std::vector<int>> before(400);
  for (int t = 0; t < 400; ++t) {
    for (int const s : x.dependencies.successors[static_cast<std::size_t>(t)]) {
      before[static_cast<std::size_t>(s)].push_back(t);
    }
  }
  for (int workers = 1; workers <= 8; ++workers) {
    std::vector<std::atomic<int>> runs(400);
    std::atomic<int> too_early = 0;
    std::atomic<int> spin = 0;
    calling_executor const work(x.graph, [&](int t, std::byte*) {
      for (int const b : before[static_cast<std::size_t>(t)]) {
        if (runs[static_cast<std::size_t>(b)].load() != 1) ++too_early;
      }
      linger(spin);
      ++runs[static_cast<std::size_t>(t)];
    });
    tbb::task_arena arena(workers);
    run_result const result = run_tbb(x.graph, x.dependencies, work, arena, workers, no_scratch);
    CAPTURE(workers);
    CHECK(too_early == 0);
    CHECK(std::ranges::all_of(runs, [](std::atomic<int> const& r) { return r.load() == 1; }));
    CHECK(result.workers == workers);
    CHECK(result.records.size() == 400);
  }
}

TEST_CASE("one worker takes the ready tasks by priority") {
  hand_made x(5);
  int const priorities[] = {1, 5, 2, 9, 7};
  for (std::size_t t = 0; t < 5; ++t) x.graph.tasks[t].priority = priorities[t];
  x.edge(0, 4);
  std::vector<int> order;
  calling_executor const work(x.graph, [&](int t, std::byte*) { order.push_back(t); });
  tbb::task_arena arena(1);
  run_tbb(x.graph, x.dependencies, work, arena, 1, no_scratch);
  CHECK(order == std::vector<int>{3, 1, 2, 0, 4});
}

TEST_CASE("a call in an arena of one worker runs on the calling thread alone") {
  hand_made const x = random_graph(100, 2);
  std::atomic<int> elsewhere = 0;
  calling_executor const work(x.graph, [&, caller = std::this_thread::get_id()](int, std::byte*) {
    if (std::this_thread::get_id() != caller) ++elsewhere;
  });
  tbb::task_arena arena(1);
  run_result const result = run_tbb(x.graph, x.dependencies, work, arena, 8, no_scratch);
  CHECK(elsewhere == 0);
  CHECK(result.workers == 1);
}

TEST_CASE("a chain of tasks wakes no worker: the calling thread runs it alone") {
  eight_threads const limit;
  hand_made x(100);
  for (int t = 1; t < 100; ++t) x.edge(t - 1, t);
  std::atomic<int> elsewhere = 0;
  calling_executor const work(x.graph, [&, caller = std::this_thread::get_id()](int, std::byte*) {
    if (std::this_thread::get_id() != caller) ++elsewhere;
  });
  tbb::task_arena arena(4);
  run_tbb(x.graph, x.dependencies, work, arena, 4, no_scratch);
  CHECK(elsewhere == 0);
}

TEST_CASE("tasks with a common lock never overlap") {
  eight_threads const limit;
  hand_made x(500);
  numbers random(3);
  for (int t = 0; t < 500; ++t) {
    int const first = random.below(4);
    x.holds(t, random.below(2) == 0 ? std::vector<int>{first} : std::vector<int>{first, first + 1 + random.below(3)});
  }
  overlap_count count(x.dependencies);
  std::atomic<int> spin = 0;
  calling_executor const work(x.graph, [&](int t, std::byte*) {
    count.enter(t);
    linger(spin);
    count.leave(t);
  });
  tbb::task_arena arena(8);
  run_result const result = run_tbb(x.graph, x.dependencies, work, arena, 8, no_scratch);
  CHECK(count.overlaps() == 0);
  CHECK(result.records.size() == 500);
}

TEST_CASE("no more tasks run at once than workers were asked for, and no scratch is shared at a time") {
  eight_threads const limit;
  hand_made const x(300);
  std::atomic<int> running = 0;
  std::atomic<int> most = 0;
  std::atomic<int> shared = 0;
  std::atomic<int> spin = 0;
  std::vector<std::atomic<int>> users(3);  // one counter is one scratch area
  calling_executor const work(
      x.graph,
      [&](int, std::byte* scratch) {
        auto& user = *reinterpret_cast<std::atomic<int>*>(scratch);
        shared += user.fetch_add(1);
        int const now = ++running;
        for (int seen = most.load(); seen < now && !most.compare_exchange_weak(seen, now);) {
        }
        linger(spin);
        --running;
        --user;
      },
      sizeof(std::atomic<int>));
  std::vector<int> asked;
  tbb::task_arena arena(8);
  run_result const result = run_tbb(x.graph, x.dependencies, work, arena, 3, [&](int worker, std::size_t bytes) {
    CHECK(bytes == sizeof(std::atomic<int>));
    asked.push_back(worker);
    return reinterpret_cast<std::byte*>(&users[static_cast<std::size_t>(worker)]);
  });
  CHECK(asked == std::vector<int>{0, 1, 2});
  CHECK(most <= 3);
  CHECK(shared == 0);
  CHECK(result.records.size() == 300);
}

TEST_CASE("a run makes do with the workers that have scratch") {
  eight_threads const limit;
  hand_made const x = random_graph(200, 4);
  std::byte areas[2];
  std::atomic<int> strangers = 0;
  calling_executor const work(
      x.graph,
      [&](int, std::byte* scratch) {
        if (scratch != &areas[0] && scratch != &areas[1]) ++strangers;
      },
      1);
  tbb::task_arena arena(4);
  run_result const result = run_tbb(x.graph, x.dependencies, work, arena, 4,
                                    [&](int worker, std::size_t) { return worker < 2 ? &areas[worker] : nullptr; });
  CHECK(strangers == 0);
  CHECK(result.records.size() == 200);
}

TEST_CASE("a run without any scratch is out of memory before its first task") {
  hand_made const x(10);
  std::atomic<int> runs = 0;
  calling_executor const work(
      x.graph, [&](int, std::byte*) { ++runs; }, 64);
  tbb::task_arena arena(2);
  status code = status::success;
  try {
    run_tbb(x.graph, x.dependencies, work, arena, 2, no_scratch);
  } catch (error const& e) {
    code = e.code();
  }
  CHECK(code == status::out_of_memory);
  CHECK(runs == 0);
  CHECK_THROWS_AS(run_sequential(x.graph, work, nullptr), error);
}

TEST_CASE("an exception of the scratch source reaches the caller") {
  hand_made const x(3);
  calling_executor const work(
      x.graph, [](int, std::byte*) {}, 64);
  tbb::task_arena arena(2);
  CHECK_THROWS_WITH(run_tbb(x.graph, x.dependencies, work, arena, 2,
                            [](int, std::size_t) -> std::byte* { throw std::runtime_error("no more"); }),
                    "no more");
}

TEST_CASE("an empty graph ends at once") {
  hand_made const x(0);
  calling_executor const work(
      x.graph, [](int, std::byte*) {}, 64);
  tbb::task_arena arena(2);
  CHECK(run_tbb(x.graph, x.dependencies, work, arena, 2, no_scratch).records.empty());
}

TEST_CASE("records name every task once, in order of their end, never before their predecessors") {
  eight_threads const limit;
  hand_made const x = random_graph(300, 5);
  std::atomic<int> spin = 0;
  calling_executor const work(x.graph, [&](int, std::byte*) { linger(spin); });
  tbb::task_arena arena(4);
  run_result const result = run_tbb(x.graph, x.dependencies, work, arena, 4, no_scratch);
  std::vector<task_record> of(300);
  std::set<int> named;
  for (task_record const& r : result.records) {
    of[static_cast<std::size_t>(r.task)] = r;
    named.insert(r.task);
    CHECK(r.worker >= 0);
    CHECK(r.worker < 4);
    CHECK(r.begin <= r.end);
    CHECK(r.end <= result.seconds);
  }
  CHECK(named.size() == 300);
  CHECK(std::ranges::is_sorted(result.records, {}, &task_record::end));
  for (std::size_t t = 0; t < 300; ++t) {
    for (int const s : x.dependencies.successors[t]) CHECK(of[static_cast<std::size_t>(s)].begin >= of[t].end);
  }
}

TEST_CASE("the caller's rounding mode holds in every task") {
  eight_threads const limit;
  hand_made const x(200);
  std::atomic<int> otherwise = 0;
  std::atomic<int> spin = 0;
  calling_executor const work(x.graph, [&](int, std::byte*) {
    if (std::fegetround() != FE_UPWARD) ++otherwise;
    linger(spin);
  });
  tbb::task_arena arena(4);
  arena.initialize();  // takes the rounding mode of this moment for the tasks that bring none
  std::fesetround(FE_UPWARD);
  run_tbb(x.graph, x.dependencies, work, arena, 4, no_scratch);
  std::fesetround(FE_TONEAREST);
  CHECK(otherwise == 0);
}

namespace {

/// A chain of 100 tasks, run from a TBB task whose group the eleventh cancels.
struct cancelled_call {
  explicit cancelled_call(int n) : workers(n), arena(n) {
    for (int t = 1; t < 100; ++t) x.edge(t - 1, t);
  }
  hand_made x{100};
  int workers;
  tbb::task_arena arena;
  tbb::task_group group;
  std::atomic<int> runs = 0;
  std::atomic<int> code = -1;

  void call() {
    calling_executor const work(x.graph, [this](int t, std::byte*) {
      ++runs;
      if (t == 10) group.cancel();
    });
    try {
      run_tbb(x.graph, x.dependencies, work, arena, workers, no_scratch);
    } catch (error const& e) {
      code = static_cast<int>(e.code());
    }
  }
  void run() {
    happens_before(this);
    group.run(tbb_entry<cancelled_call, &cancelled_call::call>{this});
    group.wait();
    happens_after(this);
  }
};

}  // namespace

TEST_CASE("cancelling the caller's task group stops the run, for 1 and 4 workers") {
  eight_threads const limit;
  for (int const workers : {1, 4}) {
    cancelled_call x(workers);
    x.arena.execute([&x] { x.run(); });
    CAPTURE(workers);
    CHECK(x.code == static_cast<int>(status::cancelled));
    CHECK(x.runs == 11);
  }
}
