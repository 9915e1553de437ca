// SPDX-License-Identifier: BSD-3-Clause
// A call keeps one priority queue of ready tasks under a spin mutex. Runners (the caller and TBB tasks, at most one a
// worker) take the best task whose locks are free, run it, release what it held back, and end when nothing is ready:
// who finds more ready tasks than runners spawns the missing ones, so idle workers are TBB's to put to sleep.
#include "schedulers/tbb/tbb_scheduler.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <new>
#include <string>
#include <utility>

#include <oneapi/tbb/spin_mutex.h>
#include <oneapi/tbb/task.h>
#include <oneapi/tbb/task_group.h>

#include "schedulers/ready_state.hpp"
#include "schedulers/tbb/happens_before.hpp"

namespace heptad {
namespace {

namespace tbb = oneapi::tbb;
// What oneTBB's own headers spawn and wait with. A task_group takes memory for whatever it is given to run, and when
// there is none it waits for ever for what it did not get.
namespace d1 = oneapi::tbb::detail::d1;
using clock = std::chrono::steady_clock;

constexpr int none = ready_state::none;

// Made when the library is loaded: there may be no memory for it when it is thrown. Never destroyed: exit handlers of
// the program may still multiply.
error const& cancelled_midway =
    *new error(status::cancelled, "the caller's task group was cancelled; C is partly updated");

/// One call. A lane is the right to run a task, with its scratch: there is one for every worker of the call, and it
/// is the arena slot of its thread where that is free.
class tbb_call {
public:
  tbb_call(graph const& g, dependencies const& d, executor const& work, std::pmr::vector<std::byte*> lanes,
           clock::time_point start, tbb::task_group_context* caller, std::pmr::memory_resource* memory)
      : graph_(g),
        work_(work),
        start_(start),
        caller_(caller),
        lane_scratch_(std::move(lanes)),
        runners_(memory),
        state_(g, d, memory),
        lane_taken_(lane_scratch_.size(), false, memory),
        records_(memory) {
    records_.reserve(g.tasks.size());
    while (runners_.size() < lane_scratch_.size()) put_back(runners_.emplace_back(*this));
  }

  /// Called inside the arena; returns when no runner is left. Meanwhile this thread runs nothing but runners of this
  /// call: other tasks of the caller could wait for what the caller holds. It is itself the first runner, so that a
  /// call without parallel work wakes nobody.
  void run() {
    tbb::this_task_arena::isolate([this] {
      runner& first = *std::exchange(idle_, idle_->next);
      prepare(first);
      d1::execute_and_wait(first, context_, running_, context_);
      happens_after_last_release(running_);
    });
  }

  /// The records of all tasks in order of their end. Throws when the run was stopped.
  std::pmr::vector<task_record> take_records() {
    tbb::spin_mutex::scoped_lock const guard(mutex_);
    if (records_.size() < graph_.tasks.size()) throw cancelled_midway;
    std::ranges::sort(records_, {}, &task_record::end);
    return std::move(records_);
  }

private:
  class runner final : public d1::task {
  public:
    explicit runner(tbb_call& call) noexcept : call_(call) {}
    d1::task* execute(d1::execution_data&) noexcept override {
      happens_after(this);
      tbb_call& call = call_;
      call.work(*this);  // at its end another thread may spawn this again
      happens_before(&call);
      call.running_.release();
      return nullptr;
    }
    d1::task* cancel(d1::execution_data&) noexcept override {
      call_.running_.release();
      return nullptr;
    }

    runner* next = nullptr;  // in a list of runners

  private:
    tbb_call& call_;
  };

  /// The body of one runner: tasks until none is ready.
  void work(runner& self) noexcept {
    int lane = none;
    task_record done{none, 0, 0, 0};
    for (;;) {
      bool const stop = cancelled();
      runner* recruits = nullptr;
      {
        tbb::spin_mutex::scoped_lock const guard(mutex_);
        if (lane == none) lane = take_lane();
        if (done.task != none) {
          records_.push_back(done);
          state_.complete(done.task);
        }
        done.task = stop ? none : state_.take();
        if (done.task == none) {
          lane_taken_[static_cast<std::size_t>(lane)] = false;
          put_back(self);
          return;
        }
        recruits = take_runners();
      }
      recruit(recruits);
      done.worker = lane;
      done.begin = elapsed();
      work_.run(graph_.tasks[static_cast<std::size_t>(done.task)], lane_scratch_[static_cast<std::size_t>(lane)]);
      done.end = elapsed();
    }
  }

  [[nodiscard]] double elapsed() const { return std::chrono::duration<double>(clock::now() - start_).count(); }

  [[nodiscard]] bool cancelled() {
    return (caller_ != nullptr && caller_->is_group_execution_cancelled()) || context_.is_group_execution_cancelled();
  }

  /// Under the mutex: those to spawn for the ready tasks.
  runner* take_runners() noexcept {
    runner* taken = nullptr;
    for (int wanted = state_.ready(); wanted > 0 && idle_ != nullptr; --wanted) {
      runner* const next = std::exchange(idle_, idle_->next);
      next->next = std::exchange(taken, next);
    }
    return taken;
  }

  /// Under the mutex.
  void put_back(runner& ended) noexcept { ended.next = std::exchange(idle_, &ended); }

  void prepare(runner& r) noexcept {
    running_.reserve();
    happens_before(&r);
  }

  void recruit(runner* first) noexcept {
    while (first != nullptr) {
      runner& spawned = *std::exchange(first, first->next);
      prepare(spawned);
      try {
        d1::spawn(spawned, context_);
      } catch (std::bad_alloc const&) {
        // Those that there are run the tasks, and ask again.
        running_.release();
        tbb::spin_mutex::scoped_lock const guard(mutex_);
        put_back(spawned);
      }
    }
  }

  /// Under the mutex. There is always a free one: no more runners than lanes.
  int take_lane() {
    auto const slot = static_cast<std::size_t>(tbb::this_task_arena::current_thread_index());
    auto const own = lane_taken_.begin() + static_cast<std::ptrdiff_t>(std::min(slot, lane_taken_.size()));
    auto const lane = own != lane_taken_.end() && !*own ? own : std::ranges::find(lane_taken_, false);
    *lane = true;
    return static_cast<int>(lane - lane_taken_.begin());
  }

  graph const& graph_;
  executor const& work_;
  clock::time_point const start_;
  tbb::task_group_context* const caller_;
  std::pmr::vector<std::byte*> const lane_scratch_;
  // Isolated from the arena's contexts, so that no runner is ever dropped unseen; with the caller's rounding mode.
  tbb::task_group_context context_{tbb::task_group_context::isolated,
                                   tbb::task_group_context::concurrent_wait | tbb::task_group_context::fp_settings};
  d1::wait_context running_{0};      // runners that are spawned or at work
  std::pmr::deque<runner> runners_;  // one a lane

  tbb::spin_mutex mutex_;  // of all that follows
  ready_state state_;
  std::pmr::vector<bool> lane_taken_;
  runner* idle_ = nullptr;
  std::pmr::vector<task_record> records_;
};

/// One area a worker, as many as can be had.
std::pmr::vector<std::byte*> lease_scratch(std::size_t bytes, int workers, scratch_source const& scratch,
                                           std::pmr::memory_resource* memory) {
  std::pmr::vector<std::byte*> areas(memory);
  areas.reserve(static_cast<std::size_t>(workers));
  for (int w = 0; w < workers; ++w) {
    std::byte* const area = bytes > 0 ? scratch(w, bytes) : nullptr;
    if (area == nullptr && bytes > 0) break;
    areas.push_back(area);
  }
  if (areas.empty()) {
    throw error(status::out_of_memory,
                "no scratch of " + std::to_string(bytes) + " bytes for even one worker; C is untouched");
  }
  return areas;
}

}  // namespace

run_result run_tbb(graph const& g, dependencies const& d, executor const& work, tbb::task_arena& arena, int workers,
                   scratch_source const& scratch, std::pmr::memory_resource* memory) {
  clock::time_point const start = clock::now();
  run_result result{std::pmr::vector<task_record>(memory)};
  result.workers = std::max(1, std::min(workers, arena.max_concurrency()));
  if (!g.tasks.empty()) {
    int const lanes = static_cast<int>(std::min<std::size_t>(static_cast<std::size_t>(result.workers), g.tasks.size()));
    tbb_call call(g, d, work, lease_scratch(work.scratch_bytes(), lanes, scratch, memory), start,
                  tbb::task::current_context(), memory);
    happens_before(&call);
    arena.execute(tbb_entry<tbb_call, &tbb_call::run>{&call});
    happens_after(&call);
    result.records = call.take_records();
  }
  result.seconds = std::chrono::duration<double>(clock::now() - start).count();
  return result;
}

}  // namespace heptad
