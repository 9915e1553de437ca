// SPDX-License-Identifier: BSD-3-Clause
// Chooses the levels of one product. Pure: no clock, no environment, no globals.
#pragma once

#include <cstddef>

#include <heptad/heptad.hpp>

#include "src/plan/profile.hpp"

namespace heptad {

/// The cheapest plan that keeps to the wishes; classical when no FMM pays or none is allowed.
/// free_memory: bytes that the process may still take; caps the default workspace.
/// Throws error{invalid_argument} naming an option that is out of range or an algorithm that is unknown.
plan choose_plan(element_type type, problem const& shape, int workers, std::size_t free_memory,
                 machine_profile const& machine, options const& wishes);

/// Predicted seconds and workspace of a plan whose levels, variant, slots and order are set; fills in the derived
/// fields (core sizes, seconds, workspace, bound, growth, tasks).
void complete_plan(plan& p, machine_profile const& machine);

/// f with ‖C−Ĉ‖max ≤ f·u·‖A‖max‖B‖max for these levels on inner dimension k (Higham 2002, §23.2.2, generalised to
/// any algorithm by Bini & Lotti 1980), and the expected growth of the error over the classical product.
double error_bound(plan const& p);
double expected_growth(plan const& p);

}  // namespace heptad
