// SPDX-License-Identifier: BSD-3-Clause
// One graph on its way through StarPU: every task becomes one of StarPU's. Every block that may move between memories
// gets a handle, and StarPU finds the order in the accesses; of blocks that stay at their addresses the order is
// declared. The operands may be handles of the caller; then only C is partitioned: A and B are read through the handles
// as they are, by any number of products at once.
#pragma once

#include <starpu.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "schedulers/starpu/backend.hpp"
#include "schedulers/starpu/codelets.hpp"
#include "schedulers/starpu/device_room.hpp"
#include "schedulers/starpu/task_order.hpp"

namespace heptad::starpu {

/// Where and how the tasks of a run go.
struct run_options {
  unsigned sched_ctx = STARPU_NMAX_SCHED_CTXS;  // that value: the current one
  int priority = STARPU_DEFAULT_PRIO;           // of the most urgent task; the others have less
  /// Operands at addresses in main memory: every block that a task touches is a handle of its own there, so that
  /// devices fetch what they need and no more. Otherwise tasks on them stay in main memory.
  bool in_cells = false;
  /// The one worker that may run a task; negative: any. Not set: any may run all.
  std::function<int(task const& t)> worker{};
  /// In simulations (STARPU_SIMGRID): how long a task of the graph takes.
  std::function<double(task const& t)> seconds{};
};

/// A handle of a task, with all that the task does to it.
struct use {
  starpu_data_handle_t handle;
  int mode;
};

class graph_run {
public:
  /// handles: of A, B and C, each null when `product` has its address. Throws std::bad_alloc.
  /// With options.in_cells the destructor waits until the result is in main memory.
  graph_run(bound_product const& product, std::span<starpu_data_handle_t const, 3> handles, run_options const& options);
  ~graph_run();
  graph_run(graph_run const&) = delete;
  graph_run& operator=(graph_run const&) = delete;

  /// Makes all tasks and handles, and submits nothing. Throws std::bad_alloc.
  void prepare();
  /// After prepare(): submits everything and returns without waiting. `finished` is called, on a thread of StarPU, when
  /// the last task has run; it may delete this. Throws error{internal_error} when StarPU refuses a task.
  void submit(std::function<void()> finished);

  /// For codelets: does the work of a task, and records when and on which lane.
  template <typename Work>
  void timed(task_argument const& x, Work const& work) {
    begin(x);
    work();
    records_[static_cast<std::size_t>(x.number)].end = elapsed();
  }
  /// For codelets that return before the work is done: a task that has no end yet ends when StarPU says so.
  void begin(task_argument const& x) {
    records_[static_cast<std::size_t>(x.number)] = {x.number, lane(), elapsed(), -1};
  }
  /// Of the calling worker.
  [[nodiscard]] int lane() const;
  [[nodiscard]] std::int64_t element_bytes() const noexcept { return element_bytes_; }
  [[nodiscard]] bound_product const& product() const noexcept { return product_; }
  [[nodiscard]] run_options const& options() const noexcept { return options_; }
  [[nodiscard]] task const& task_of(task_argument const& x) const {
    return product_.work->tasks[static_cast<std::size_t>(x.number)];
  }

  /// After the end: one record a task, in the order of their ends. Allocates nothing, as C is done.
  [[nodiscard]] std::pmr::vector<task_record> take_records();
  [[nodiscard]] double elapsed() const;

private:
  struct cell {
    block where;
    starpu_data_handle_t handle = nullptr;
    bool owned = false;  // registered here, and not yet unregistered
  };

  void find_cells();
  void register_cells();
  void register_locks();
  void plan_parts_of_C();
  void unpartition_C();
  void bring_home();
  [[nodiscard]] bool moves(int space) const;
  [[nodiscard]] bool all_moves() const;
  [[nodiscard]] bool nothing_moves() const;
  [[nodiscard]] cell const& cell_of(block const& b) const;
  [[nodiscard]] int lock_of(task_argument const& x) const;
  void declare_order();
  /// The slot of a block, with its handle among the task's.
  slot slot_of(touched_block const& x, bool commutes, std::vector<use>& uses) const;
  [[nodiscard]] location fixed_place(block const& b) const;
  [[nodiscard]] orientation order_in(int space) const;
  struct unsubmitted {
    void operator()(starpu_task* t) const {
      t->destroy = 0;  // StarPU would do it at the end of the task
      starpu_task_destroy(t);
    }
  };
  using new_task = std::unique_ptr<starpu_task, unsubmitted>;
  [[nodiscard]] int workers_for(task_argument const& x, bool in_memory, std::vector<use> const& uses) const;
  [[nodiscard]] new_task make_task(task_argument& x) const;
  [[nodiscard]] new_task access_to_C() const;
  bool submit(new_task& t);
  void task_ended();
  static void on_task_end(void* argument);

  bound_product const product_;
  run_options const options_;
  std::int64_t const element_bytes_;
  starpu_data_handle_t const operands_[3];
  device_room const room_;
  task_order const order_;                      // to be declared; empty where everything moves
  std::vector<starpu_data_handle_t> locks_;     // null: nobody needs it
  std::vector<cell> cells_;                     // sorted by place
  std::vector<starpu_data_handle_t> children_;  // of C; empty: it is not partitioned
  std::vector<task_argument> arguments_;
  std::vector<new_task> tasks_;  // until they are submitted; others may be declared to wait for them
  new_task access_;              // to the whole of C, before its parts are used
  std::vector<int> priorities_;  // of every task, in what the policy knows
  std::vector<int> lane_of_worker_;
  std::vector<double> last_end_;  // of each lane, for take_records
  std::pmr::vector<task_record> records_;
  std::atomic<std::size_t> running_{0};
  std::function<void()> finished_;
  bool submitted_ = false;
  int refused_ = 0;  // what StarPU answered to a task that it did not take
  std::chrono::steady_clock::time_point const start_;
};

}  // namespace heptad::starpu
