// SPDX-License-Identifier: BSD-3-Clause
// Calls that need no plan: C is only scaled, or the product is small.
#pragma once

#include <heptad/heptad.hpp>

#include "src/api/arguments.hpp"
#include "src/api/context.hpp"

namespace heptad {

/// alpha = 0 or k = 0 or no element of C: A and B are not read.
template <typename T>
report scale_only(operands<T> const& x);

/// So little work for so many threads that planning and waking workers would cost more than they gain.
bool is_small(problem const& x, int threads);

/// One product on the calling thread. Throws error{out_of_memory}; C is untouched then.
template <typename T>
report multiply_small(context::impl& state, operands<T> const& x, options const& wishes);

}  // namespace heptad
