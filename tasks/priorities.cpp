// SPDX-License-Identifier: BSD-3-Clause
#include "tasks/priorities.hpp"

#include <algorithm>

namespace heptad {

void prioritize(graph& g, dependencies const& d, plan const& how) {
  constexpr int many_workers = 4;
  auto const task_levels = std::ranges::count(how.levels, level_kind::task, &plan_level::kind);
  if (how.workers < many_workers || task_levels < 2 || how.slots == 1) return;
  int left = static_cast<int>(g.tasks.size());
  for (std::size_t const t : by_urgency(seconds_to_end(g, d))) g.tasks[t].priority = left--;
}

}  // namespace heptad
