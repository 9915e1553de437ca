// SPDX-License-Identifier: BSD-3-Clause
// The graph of one product C := alpha A B + beta C by the levels of a plan.
#pragma once

#include "src/plan/profile.hpp"
#include "tasks/graph.hpp"

namespace heptad {

/// Pure. Costs come from the profile. The operands' views are bound by the scheduler's executor.
graph build_gemm_graph(plan const& how, machine_profile const& machine);

/// Bytes of shared workspace plus, for each worker, of the scratch of the largest task (buffers, packing).
std::size_t workspace_bytes(graph const& g, plan const& how, machine_profile const& machine);

}  // namespace heptad
