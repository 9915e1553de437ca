// SPDX-License-Identifier: BSD-3-Clause
// Calls that meet in one arena: from several threads, and from inside the caller's own TBB tasks.
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "schedulers/tbb/tbb_scheduler.hpp"
#include "tests/schedulers/hand_made.hpp"

namespace tbb = oneapi::tbb;
using namespace heptad;
using namespace heptad::test;

namespace {

/// Calls that each count their own tasks.
struct counted_calls {
  hand_made work = random_graph(120, 6);
  std::atomic<int> complete = 0;
  std::atomic<int> runs = 0;

  void call(tbb::task_arena& arena, int workers) {
    std::atomic<int> mine = 0;
    calling_executor const count(work.graph, [&](int, std::byte*) {
      ++mine;
      ++runs;
      std::this_thread::yield();
    });
    run_tbb(work.graph, work.dependencies, count, arena, workers, no_scratch);
    if (mine == 120) ++complete;
  }
};

}  // namespace

TEST_CASE("eight threads call at once on one arena of 1, 2 and 8 workers") {
  tbb::global_control const limit(tbb::global_control::max_allowed_parallelism, 8);
  for (int const workers : {1, 2, 8}) {
    tbb::task_arena arena(workers);
    counted_calls calls;
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&] {
        for (int r = 0; r < 5; ++r) calls.call(arena, workers);
      });
    }
    for (std::thread& t : threads) t.join();
    CAPTURE(workers);
    CHECK(calls.complete == 40);
  }
}

TEST_CASE("calls from inside TBB tasks of the same arena end, and enter no other work of the caller while they wait") {
  tbb::global_control const limit(tbb::global_control::max_allowed_parallelism, 8);
  static thread_local int depth = 0;
  for (int const workers : {1, 2, 4}) {
    tbb::task_arena arena(workers);
    counted_calls calls;
    std::atomic<int> entered = 0;
    arena.execute([&] {
      tbb::parallel_for(0, 64, [&](int) {
        if (depth++ != 0) ++entered;
        calls.call(arena, workers);
        --depth;
      });
    });
    CAPTURE(workers);
    CHECK(calls.complete == 64);
    CHECK(entered == 0);
  }
}

TEST_CASE("calls from inside TBB tasks of another arena end") {
  tbb::global_control const limit(tbb::global_control::max_allowed_parallelism, 8);
  tbb::task_arena callers(4);
  tbb::task_arena arena(2);
  counted_calls calls;
  callers.execute([&] { tbb::parallel_for(0, 32, [&](int) { calls.call(arena, 2); }); });
  CHECK(calls.complete == 32);
}
