// SPDX-License-Identifier: BSD-3-Clause
// One small interface: run a graph to its end.
#pragma once

#include <cstdint>
#include <functional>
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
  std::vector<task_record> records;  // one a task, in order of their end
  int workers = 1;
  double seconds = 0;
};

/// Gives the scratch of a worker (at least `bytes`, 64-byte aligned, kept between calls). Null: none could be
/// allocated.
using scratch_source = std::function<std::byte*(int worker, std::size_t bytes)>;

/// Chrome/Perfetto trace-event JSON: one track a worker, one slice a task.
std::string to_trace(graph const& g, run_result const& r, std::string const& title);

}  // namespace heptad
