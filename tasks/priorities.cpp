// SPDX-License-Identifier: BSD-3-Clause
#include "tasks/priorities.hpp"

#include <algorithm>
#include <numeric>

namespace heptad {

void prioritize(graph& g, dependencies const& d, plan const& how) {
  constexpr int many_workers = 4;
  auto const task_levels = std::ranges::count(how.levels, level_kind::task, &plan_level::kind);
  if (how.workers < many_workers || task_levels < 2 || how.slots == 1) return;
  std::vector<double> const urgency = seconds_to_end(g, d);
  std::vector<std::size_t> order(g.tasks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t x, std::size_t y) { return urgency[x] > urgency[y]; });
  int left = static_cast<int>(order.size());
  for (std::size_t const t : order) g.tasks[t].priority = left--;
}

}  // namespace heptad
