// SPDX-License-Identifier: BSD-3-Clause
// A prepared plan on real operands: A and B are looked at, and where they do not allow the plan's levels C is made by
// the classical algorithm, or by the levels on scaled copies.
#pragma once

#include <heptad/heptad.hpp>

#include "src/api/arguments.hpp"
#include "src/api/context.hpp"
#include "src/api/graph_runner.hpp"
#include "src/api/prepare.hpp"

namespace heptad {

/// Of a column-major C. Sets all of the report but seconds, GFLOP/s and idle time. Before C is touched it throws as
/// get_workspace does; afterwards errors say that C may be partly updated, or is overwritten.
template <typename T>
void run_prepared(context::impl& state, graph_runner const& workers, operands<T> const& x, scaling_kind wish,
                  workspace memory, report& r);

}  // namespace heptad
