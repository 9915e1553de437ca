// SPDX-License-Identifier: BSD-3-Clause
// What StarPU is told of the order of tasks on memory that it does not move: who comes after whom, and which tasks
// exclude each other in any order.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "tasks/graph.hpp"

namespace heptad::starpu {

struct task_order {
  static constexpr int no_lock = -1;
  std::vector<std::vector<int>> predecessors;  // of every task
  std::vector<int> lock;                       // that a task holds, or no_lock
};

/// Whoever needs several locks would keep those that it has from everybody while it waits for another one: such a task
/// comes after all older ones, and before all younger ones, that it excludes.
inline task_order order_of_tasks(dependencies const& d) {
  std::size_t const tasks = d.successors.size();
  task_order order{std::vector<std::vector<int>>(tasks), std::vector<int>(tasks, task_order::no_lock)};
  struct holders {
    int last_of_several = -1;
    std::vector<int> since;  // that hold this lock alone
  };
  std::vector<holders> of_lock(static_cast<std::size_t>(d.locks));
  for (std::size_t t = 0; t < tasks; ++t) {
    std::span<int const> const locks = d.exclusions[t];
    std::vector<int>& before = order.predecessors[t];
    for (int const lock : locks) {
      holders& h = of_lock[static_cast<std::size_t>(lock)];
      if (locks.size() > 1 && !h.since.empty()) before.insert(before.end(), h.since.begin(), h.since.end());
      else if (h.last_of_several >= 0) before.push_back(h.last_of_several);
      if (locks.size() == 1) {
        h.since.push_back(static_cast<int>(t));
        order.lock[t] = lock;
      } else {
        h.since.clear();
        h.last_of_several = static_cast<int>(t);
      }
    }
    for (int const next : d.successors[t])
      order.predecessors[static_cast<std::size_t>(next)].push_back(static_cast<int>(t));
  }
  for (std::vector<int>& before : order.predecessors) {
    std::ranges::sort(before);
    before.erase(std::ranges::unique(before).begin(), before.end());
  }
  return order;
}

}  // namespace heptad::starpu
