// SPDX-License-Identifier: BSD-3-Clause
#include "schedulers/starpu/task_priorities.hpp"

#include <starpu.h>

#include <algorithm>

#include "tasks/priorities.hpp"

namespace heptad::starpu {

known_priorities::known_priorities(unsigned sched_ctx, int urgent) : first(urgent) {
  bool const current = sched_ctx == STARPU_NMAX_SCHED_CTXS;
  least = current ? starpu_sched_get_min_priority() : starpu_sched_ctx_get_min_priority(sched_ctx);
  most = current ? starpu_sched_get_max_priority() : starpu_sched_ctx_get_max_priority(sched_ctx);
}

int known_priorities::of_rank(std::int64_t rank) const {
  return static_cast<int>(std::clamp<std::int64_t>(first - rank, least, std::max(least, most)));
}

std::vector<int> priorities_of(graph const& g, dependencies const& d, known_priorities const& known, bool moves) {
  std::vector<double> urgency;
  if (moves) urgency = seconds_to_end(g, d);
  else
    for (task const& t : g.tasks) urgency.push_back(t.priority);
  std::vector<int> priority(g.tasks.size());
  std::int64_t rank = 0;
  for (std::size_t const t : by_urgency(urgency)) priority[t] = known.of_rank(rank++);
  return priority;
}

}  // namespace heptad::starpu
