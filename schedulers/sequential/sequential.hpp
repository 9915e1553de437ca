// SPDX-License-Identifier: BSD-3-Clause
// The oracle: tasks in program order on the calling thread.
#pragma once

#include "schedulers/scheduler.hpp"

namespace heptad {

run_result run_sequential(graph const& g, executor const& work, std::byte* scratch);

}  // namespace heptad
