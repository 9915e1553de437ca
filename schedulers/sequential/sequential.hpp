// SPDX-License-Identifier: BSD-3-Clause
// The oracle: tasks in program order on the calling thread.
#pragma once

#include "schedulers/scheduler.hpp"

namespace heptad {

/// Blocking. scratch: work.scratch_bytes(), 64-byte aligned; null when that is more than zero throws
/// error{out_of_memory}. `memory` is for the records, and must outlive them.
run_result run_sequential(graph const& g, executor const& work, std::byte* scratch,
                          std::pmr::memory_resource* memory = std::pmr::get_default_resource());

}  // namespace heptad
