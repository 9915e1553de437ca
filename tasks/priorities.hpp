// SPDX-License-Identifier: BSD-3-Clause
// Which of the ready tasks come first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include "tasks/graph.hpp"

namespace heptad {

/// Of the longest chain of tasks that waits for each one, itself included.
inline std::vector<double> seconds_to_end(graph const& g, dependencies const& d) {
  std::vector<double> below(g.tasks.size());
  for (std::size_t t = g.tasks.size(); t-- > 0;) {  // program order is topological
    for (int const next : d.successors[t]) below[t] = std::max(below[t], below[static_cast<std::size_t>(next)]);
    below[t] += g.tasks[t].cost.seconds;
  }
  return below;
}

/// The numbers of the tasks, the most urgent one first, in program order where several are as urgent.
inline std::vector<std::size_t> by_urgency(std::vector<double> const& urgency) {
  std::vector<std::size_t> order(urgency.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t x, std::size_t y) { return urgency[x] > urgency[y]; });
  return order;
}

/// Program order finds the sums of a product in caches, and keeps few workers busy, and all where one node of a level
/// follows the other. Four and more on several nodes at once, in as many slots, wait less when the tasks with the
/// longest chains behind them come first: sets the priorities so for the graph of such a plan.
void prioritize(graph& g, dependencies const& d, plan const& how);

}  // namespace heptad
