// SPDX-License-Identifier: BSD-3-Clause
// Calls that meet in one arena: from several threads, and from inside the caller's own TBB tasks.
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_group.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "schedulers/tbb/happens_before.hpp"
#include "schedulers/tbb/tbb_scheduler.hpp"
#include "tests/schedulers/hand_made.hpp"

namespace tbb = oneapi::tbb;
using namespace heptad;
using namespace heptad::test;

namespace {

/// Calls on one arena that each count their own tasks; call() is what a thread or a TBB task of the caller does.
struct counted_calls {
  counted_calls(tbb::task_arena& where, int how_many) : arena(where), workers(how_many) {}

  hand_made work = random_graph(120, 6);
  tbb::task_arena& arena;
  int workers;
  std::atomic<int> complete = 0;
  std::atomic<int> entered = 0;  // on top of another call of the same thread

  void call() {
    static thread_local int depth = 0;
    if (depth++ != 0) ++entered;
    std::atomic<int> mine = 0;
    calling_executor const count(work.graph, [&mine](int, std::byte*) {
      ++mine;
      std::this_thread::yield();
    });
    run_tbb(work.graph, work.dependencies, count, arena, workers, no_scratch);
    if (mine == 120) ++complete;
    --depth;
  }

  /// As many TBB tasks of the caller, in the current arena.
  void call_from_tasks(int tasks) {
    tbb::task_group group;
    happens_before(this);
    for (int t = 0; t < tasks; ++t) group.run(tbb_entry<counted_calls, &counted_calls::call>{this});
    group.wait();
    happens_after(this);
  }
};

}  // namespace

TEST_CASE("eight threads call at once on one arena of 1, 2 and 8 workers") {
  tbb::global_control const limit(tbb::global_control::max_allowed_parallelism, 8);
  for (int const workers : {1, 2, 8}) {
    tbb::task_arena arena(workers);
    counted_calls calls(arena, workers);
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&] {
        for (int r = 0; r < 5; ++r) calls.call();
      });
    }
    for (std::thread& t : threads) t.join();
    CAPTURE(workers);
    CHECK(calls.complete == 40);
  }
}

TEST_CASE("calls from inside TBB tasks of the same arena end, and enter no other work of the caller while they wait") {
  tbb::global_control const limit(tbb::global_control::max_allowed_parallelism, 8);
  for (int const workers : {1, 2, 4}) {
    tbb::task_arena arena(workers);
    counted_calls calls(arena, workers);
    arena.execute([&calls] { calls.call_from_tasks(64); });
    CAPTURE(workers);
    CHECK(calls.complete == 64);
    CHECK(calls.entered == 0);
  }
}

TEST_CASE("calls from inside TBB tasks of another arena end") {
  tbb::global_control const limit(tbb::global_control::max_allowed_parallelism, 8);
  tbb::task_arena callers(4);
  tbb::task_arena arena(2);
  counted_calls calls(arena, 2);
  callers.execute([&calls] { calls.call_from_tasks(32); });
  CHECK(calls.complete == 32);
}
