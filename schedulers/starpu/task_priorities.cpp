// SPDX-License-Identifier: BSD-3-Clause
#include "schedulers/starpu/task_priorities.hpp"

#include <starpu.h>

#include <algorithm>
#include <numeric>

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
  std::vector<std::size_t> by_urgency(g.tasks.size());
  std::iota(by_urgency.begin(), by_urgency.end(), std::size_t{0});
  std::ranges::stable_sort(by_urgency, [&](std::size_t x, std::size_t y) { return urgency[x] > urgency[y]; });
  std::vector<int> priority(g.tasks.size());
  for (std::size_t i = 0; i < by_urgency.size(); ++i)
    priority[by_urgency[i]] = known.of_rank(static_cast<std::int64_t>(i));
  return priority;
}

}  // namespace heptad::starpu
