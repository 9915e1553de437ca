// SPDX-License-Identifier: BSD-3-Clause
// The graph that looks at A and B before a fast algorithm may touch C: the passes of the product that read A and B
// anyway and write nothing but workspace look at what they read, and scan tasks at what those leave out.
#pragma once

#include <cstdint>

#include "src/plan/profile.hpp"
#include "tasks/graph.hpp"

namespace heptad {

struct scan_graph {
  graph work;
  int copies = 1;  // of the maxima: one for every task that runs at a time
};

/// Pure; for m, n, k > 0. Layouts are those of how.shape. Scan tasks for all of A and B.
scan_graph build_scan_graph(plan const& how, machine_profile const& machine);

/// The opening passes of the plan's graph, and scan tasks for the rest of A and B.
scan_graph build_opening_graph(plan const& how, machine_profile const& machine, graph const& product);

}  // namespace heptad
