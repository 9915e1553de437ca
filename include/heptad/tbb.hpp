// SPDX-License-Identifier: BSD-3-Clause
// Heptad in the caller's oneTBB arena: no thread is started that the caller did not ask for.
#pragma once

#include <oneapi/tbb/task_arena.h>

#include <heptad/heptad.hpp>

namespace heptad {

/// A context whose products run in `arena`, with as many workers as it has slots. The arena must outlive the context.
HEPTAD_API context make_context(oneapi::tbb::task_arena& arena);

}  // namespace heptad
