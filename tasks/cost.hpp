// SPDX-License-Identifier: BSD-3-Clause
// What steps cost on one worker that has the machine to itself, from the rates of the profile. The graph gives the
// element type and the programs.
#pragma once

#include "src/plan/profile.hpp"
#include "tasks/graph.hpp"

namespace heptad {

/// A pass runs at the bandwidth of the smallest memory that holds all it touches. A block read and written counts
/// twice.
cost cost_of(combine_step const& step, graph const& g, machine_profile const& machine);

/// A classical product at the rate of its size (or of thin products), plus reading every further operand of the sums
/// and updating every further destination.
cost cost_of(product_step const& step, graph const& g, machine_profile const& machine);

cost cost_of(scale_step const& step, graph const& g, machine_profile const& machine);

/// All steps, one after the other.
cost cost_of(sequence const& s, graph const& g, machine_profile const& machine);

constexpr std::int64_t bytes_of(element_type type) noexcept { return type == element_type::f64 ? 8 : 4; }

}  // namespace heptad
