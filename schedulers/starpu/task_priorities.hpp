// SPDX-License-Identifier: BSD-3-Clause
// The priorities of a graph's tasks, in what the policy of a scheduling context knows.
#pragma once

#include <cstdint>
#include <vector>

#include "tasks/graph.hpp"

namespace heptad::starpu {

struct known_priorities {
  int first, least, most;

  /// first: of the most urgent task.
  known_priorities(unsigned sched_ctx, int first);
  /// 0: the most urgent task.
  [[nodiscard]] int of_rank(std::int64_t rank) const;
};

/// Where data moves, by the critical path. In main memory alone the graph's own order is better: who makes the sums of
/// every product first finds none of them in a cache later.
std::vector<int> priorities_of(graph const& g, dependencies const& d, known_priorities const& known, bool moves);

}  // namespace heptad::starpu
