// SPDX-License-Identifier: BSD-3-Clause
// The graph of one product C := alpha A B + beta C by the levels of a plan.
#pragma once

#include "src/plan/profile.hpp"
#include "tasks/graph.hpp"

namespace heptad {

/// How the operands are cut into what tasks touch. strips: passes in tiles along contiguous memory, fringes in strips,
/// each block as large as its task can use. cells: every matrix in one grid, so that two blocks that tasks of the graph
/// touch in C or in a buffer are the same or apart: a runtime can give each block a handle of its own.
enum class tiling { strips, cells };

/// Pure. Costs come from the profile. The operands' views are bound by the scheduler's executor.
/// The levels are applied to the leading core_m × core_n × core_k part, which they must divide, task levels first, then
/// explicit, then fused ones; the fringes are classical products. Every element of C meets beta exactly once. In strips
/// the core may reach beyond sides that the plan pads: what blocks of A and B lack there is zero, and of C nowhere.
/// Throws error{internal_error} when the plan breaks these rules or C is row-major (the caller transposes first).
graph build_gemm_graph(plan const& how, machine_profile const& machine, tiling cut = tiling::strips);

/// Bytes of shared workspace plus, for each worker, of the scratch of the largest task: its buffers, and
/// `packing_bytes`, what the product codelet needs for the largest leaf.
std::size_t workspace_bytes(graph const& g, int workers, std::size_t packing_bytes);

}  // namespace heptad
