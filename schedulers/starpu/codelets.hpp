// SPDX-License-Identifier: BSD-3-Clause
// The codelets as StarPU sees them: which workers can run them, how their time is modelled, how tools show them.
#pragma once

#include <starpu.h>

#include <functional>
#include <vector>

#include "schedulers/executor.hpp"
#include "schedulers/starpu/task_places.hpp"

namespace heptad::starpu {

/// Where a task finds one of its places: in a buffer that StarPU hands it, or at a fixed address.
struct slot {
  int buffer = -1;  // index among the task's handles; negative: fixed
  location fixed;
  orientation order = orientation::column_major;  // of the matrix in the buffer
  std::int64_t row = 0, col = 0;                  // of the place in it
};

class graph_run;

/// The argument of one task. Lives as long as its run.
struct task_argument {
  graph_run* run = nullptr;
  int number = 0;  // of the task in the graph
  // Where nothing moves both are empty: the executor knows the places.
  placed_task placed;
  std::vector<slot> slots;  // one a place
};

/// combine, scale, scan or product, by the kind of the body.
starpu_codelet& codelet_of(task const& t);

/// A codelet without a function: for the synchronisation that an access alone brings.
starpu_codelet& empty_codelet();

/// A codelet on a CPU that does nothing but to be there: what it writes has memory then.
starpu_codelet& allocating_codelet();

/// The argument of a running task.
inline task_argument const& argument_of(void* cl_arg) { return *static_cast<task_argument const*>(cl_arg); }

}  // namespace heptad::starpu
