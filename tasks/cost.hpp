// SPDX-License-Identifier: BSD-3-Clause
// What steps cost on one worker that has the machine to itself. The graph gives the element type, the programs and the
// variant of its products.
#pragma once

#include "src/plan/prices.hpp"
#include "tasks/graph.hpp"

namespace heptad {

/// A block read and written counts twice.
cost cost_of(combine_step const& step, graph const& g, prices const& price);

cost cost_of(scale_step const& step, graph const& g, prices const& price);

/// All steps, one after the other.
cost cost_of(sequence const& s, graph const& g, prices const& price);

}  // namespace heptad
