// SPDX-License-Identifier: BSD-3-Clause
// One small interface: run a graph to its end. Whoever runs it takes all the memory that it needs before the first
// task: std::bad_alloc, and error{out_of_memory}, mean that no operand was touched.
#pragma once

#include <cstdint>
#include <functional>
#include <memory_resource>
#include <span>
#include <string>
#include <vector>

#include "schedulers/executor.hpp"
#include "tasks/graph.hpp"

namespace heptad {

/// When one task ran, for reports and traces. Seconds since the call began.
struct task_record {
  int task = 0;
  int worker = 0;
  double begin = 0, end = 0;
};

struct run_result {
  std::pmr::vector<task_record> records;  // one a task, in order of their end
  int workers = 1;                        // that the call could use, whether they found work or not
  double seconds = 0;
};

/// Lends the scratch of one call: called on the calling thread before the first task, with worker = 0, 1, …, each once.
/// Every area (at least `bytes`, 64-byte aligned) is the call's alone until the run returns: calls that overlap in
/// time, a call made from inside another one's task among them, must be given different areas. `worker` is a hint to
/// hand the same memory to the same worker again. Null: none could be allocated; the run makes do with fewer workers.
using scratch_source = std::function<std::byte*(int worker, std::size_t bytes)>;

/// Seconds that each worker spent in tasks.
std::vector<double> busy_seconds(run_result const& r);
/// Adds them to `busy`, which has an element for each.
void add_busy_seconds(run_result const& r, std::span<double> busy);

/// One of the runs of a call.
struct traced_run {
  graph const& work;
  run_result const& ran;
  double begin = 0;     // seconds after the trace began
  bool looks = false;   // at A and B: of a product task it runs the opening passes alone
  bool opened = false;  // the opening passes were left out: a run before has made them
};

/// The elements of a Chrome/Perfetto trace-event JSON array, without its brackets, so that calls can be appended: one
/// process numbered `call`, one track a worker, one slice a task. The last run is that of the product.
std::string to_trace_events(std::span<traced_run const> runs, std::string const& title, int call);

}  // namespace heptad
