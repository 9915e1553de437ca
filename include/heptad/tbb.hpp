// SPDX-License-Identifier: BSD-3-Clause
// Heptad in the caller's oneTBB arena: no thread is started that the caller did not ask for.
#pragma once

#include <oneapi/tbb/task_arena.h>

#include <memory>

#include <heptad/heptad.hpp>

namespace heptad {

/// A context whose products run in `arena`, with as many workers as it has slots. The arena must outlive the context.
HEPTAD_API context make_context(oneapi::tbb::task_arena& arena);

/// The arena that the products of `workers` run in. What the caller does between products, inside it (arena->execute),
/// finds the workers awake that a product has just used, and the next product those. That of make_context(arena) is
/// `arena` itself, which its owner keeps alive; any other is kept alive by who holds it, and once the number of threads
/// is set anew, products run in another one.
HEPTAD_API std::shared_ptr<oneapi::tbb::task_arena> arena_of(context& workers);

}  // namespace heptad
