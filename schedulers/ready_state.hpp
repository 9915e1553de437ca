// SPDX-License-Identifier: BSD-3-Clause
// The policy of a parallel run, apart from who runs it: which tasks are ready, parked or done, and which comes next.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory_resource>
#include <queue>
#include <utility>
#include <vector>

#include "tasks/graph.hpp"

namespace heptad {

/// Not synchronised. Allocates in the constructor alone. The graph, its dependencies and the memory must outlive it.
class ready_state {
public:
  static constexpr int none = -1;

  ready_state(graph const& g, dependencies const& d,
              std::pmr::memory_resource* memory = std::pmr::get_default_resource())
      : graph_(g),
        dependencies_(d),
        queue_(std::less<ready_task>(), room_for(g.tasks.size(), memory)),
        predecessors_(d.predecessors.begin(), d.predecessors.end(), memory),
        next_parked_(g.tasks.size(), none, memory),
        first_parked_(static_cast<std::size_t>(d.locks), none, memory),
        held_(static_cast<std::size_t>(d.locks), false, memory) {
    for (std::size_t t = 0; t < g.tasks.size(); ++t) {
      if (predecessors_[t] == 0) push(static_cast<int>(t));
    }
  }

  /// Tasks that take() would look at; some of them may find a lock held.
  [[nodiscard]] int ready() const noexcept { return static_cast<int>(queue_.size()); }

  /// Takes the best ready task whose locks are all free, and these with it: the largest priority, then the first in
  /// program order. Better ones with a held lock park on it, so that nobody waits while holding.
  int take() {
    while (!queue_.empty()) {
      int const task = queue_.top().task;
      queue_.pop();
      std::vector<int> const& locks = dependencies_.exclusions[at(task)];
      auto const busy = std::ranges::find_if(locks, [this](int lock) { return held_[at(lock)]; });
      if (busy == locks.end()) {
        for (int const lock : locks) held_[at(lock)] = true;
        return task;
      }
      next_parked_[at(task)] = std::exchange(first_parked_[at(*busy)], task);
    }
    return none;
  }

  /// Frees the locks of a task, requeues what is parked on them, and readies the successors whose last wait it was.
  void complete(int task) {
    for (int const lock : dependencies_.exclusions[at(task)]) {
      held_[at(lock)] = false;
      int parked = std::exchange(first_parked_[at(lock)], none);
      while (parked != none) {
        push(parked);
        parked = next_parked_[at(parked)];
      }
    }
    for (int const successor : dependencies_.successors[at(task)]) {
      if (--predecessors_[at(successor)] == 0) push(successor);
    }
  }

private:
  struct ready_task {
    int priority = 0;
    int task = 0;
    friend bool operator<(ready_task const& a, ready_task const& b) noexcept {
      return a.priority != b.priority ? a.priority < b.priority : a.task > b.task;
    }
  };

  static std::pmr::vector<ready_task> room_for(std::size_t tasks, std::pmr::memory_resource* memory) {
    std::pmr::vector<ready_task> storage(memory);
    storage.reserve(tasks);
    return storage;
  }

  static std::size_t at(int i) noexcept { return static_cast<std::size_t>(i); }
  void push(int task) { queue_.push({graph_.tasks[at(task)].priority, task}); }

  graph const& graph_;
  dependencies const& dependencies_;
  std::priority_queue<ready_task, std::pmr::vector<ready_task>> queue_;
  std::pmr::vector<int> predecessors_;  // not yet completed
  std::pmr::vector<int> next_parked_;   // per task: the next one that is parked on the same lock
  std::pmr::vector<int> first_parked_;  // per lock
  std::pmr::vector<bool> held_;         // per lock
};

}  // namespace heptad
