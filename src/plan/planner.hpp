// SPDX-License-Identifier: BSD-3-Clause
// Chooses the levels of one product. Pure: no clock, no environment, no globals.
#pragma once

#include <cstddef>
#include <vector>

#include <heptad/heptad.hpp>

#include "src/plan/cost_model.hpp"

namespace heptad {

/// The cheapest plan that keeps to the wishes; classical when no FMM pays or none is allowed.
/// free_memory: bytes that the process may still take; caps the default workspace.
/// Throws error{invalid_argument} naming an option that is out of range or an algorithm that is unknown.
plan choose_plan(element_type type, problem const& shape, int workers, std::size_t free_memory,
                 machine_profile const& machine, options const& wishes);

/// The same plan, then others that keep to the wishes, the cheapest first: at most so many, and of one list of levels
/// at most so many variants.
std::vector<plan> rank_plans(element_type type, problem const& shape, int workers, std::size_t free_memory,
                             machine_profile const& machine, options const& wishes, std::size_t most,
                             std::size_t variants);

/// The cap on workspace of these plans, in bytes.
std::size_t workspace_cap(element_type type, problem const& shape, std::size_t free_memory, options const& wishes);

/// Whether the graph of a plan is cut into cells, which lie in the operands as they are: blocks that StarPU moves need
/// them, and the bits of a deterministic graph must not depend on who runs it.
constexpr bool needs_cells(bool deterministic, scheduler_kind scheduler) noexcept {
  return deterministic || scheduler == scheduler_kind::starpu;
}

/// The choices of a plan.
outline outline_of(plan const& p);

/// Whether nothing needs workspace but packing, as of the classical product: no cap forbids such a plan.
bool only_packing(outline const& o);

/// Predicted seconds and workspace of a plan whose levels, variant, slots and order are set; fills in the derived
/// fields (core sizes, seconds, workspace, tasks, accuracy and range).
void complete_plan(plan& p, machine_profile const& machine);

/// Fills in what a plan says of accuracy and range: bound, bound_of_C, growth, largest_A, largest_B, largest_product.
void judge_accuracy(plan& p);

/// u: half the distance from 1 to the next number.
constexpr double unit_roundoff(element_type type) noexcept { return type == element_type::f64 ? 0x1p-53 : 0x1p-24; }

}  // namespace heptad
