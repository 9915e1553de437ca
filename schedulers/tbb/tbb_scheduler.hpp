// SPDX-License-Identifier: BSD-3-Clause
// Runs a graph on a oneTBB arena: ready tasks by priority, accumulates exclude each other by parking, never by waiting.
#pragma once

#include <oneapi/tbb/task_arena.h>

#include "schedulers/scheduler.hpp"

namespace heptad {

/// Blocking. Runs at most `workers` tasks at once, in the arena, the calling thread among its workers; starts no thread
/// of its own. Callable from several threads on one arena and from inside a TBB task of it: while the calling thread
/// waits it runs tasks of this call only, so that no other work of the caller is entered on top of its stack.
/// All scratch is asked for before the first task. Throws error{out_of_memory} when there is none for even one worker
/// (no task has run), error{cancelled} when the task_group_context of the caller's TBB task was cancelled (some have).
/// `memory` is for the state of the run and its records, and must outlive these; only the calling thread uses it,
/// before the first task and after the last one.
run_result run_tbb(graph const& g, dependencies const& d, executor const& work, oneapi::tbb::task_arena& arena,
                   int workers, scratch_source const& scratch,
                   std::pmr::memory_resource* memory = std::pmr::get_default_resource());

}  // namespace heptad
