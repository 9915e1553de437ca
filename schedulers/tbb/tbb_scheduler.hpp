// SPDX-License-Identifier: BSD-3-Clause
// Runs a graph on a oneTBB arena: ready tasks by priority, accumulates exclude each other by parking, never by waiting.
#pragma once

#include <oneapi/tbb/task_arena.h>

#include "schedulers/scheduler.hpp"

namespace heptad {

/// Blocking. Uses at most `workers` workers of the arena; scratch(w, bytes) is asked for once per worker that takes
/// part. The caller's cancellation (its task_group_context) stops the run: throws error{cancelled}.
run_result run_tbb(graph const& g, dependencies const& d, executor const& work, oneapi::tbb::task_arena& arena,
                   int workers, scratch_source const& scratch);

}  // namespace heptad
