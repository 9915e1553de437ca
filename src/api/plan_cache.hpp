// SPDX-License-Identifier: BSD-3-Clause
// Recent plans with their graphs: a repeated call plans and builds nothing.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <utility>

#include <heptad/heptad.hpp>

#include "tasks/graph.hpp"
#include "tasks/scan_graph.hpp"

namespace heptad {

/// All that a plan follows from but the machine, which does not change.
struct plan_key {
  element_type type;
  problem shape;
  int workers = 1;
  options wishes;

  friend bool operator==(plan_key const&, plan_key const&) = default;
};

/// A plan, ready to run on any operands of its shape.
struct prepared_plan {
  plan how;
  graph work;
  dependencies order;
  scan_graph scan;  // of the operands, to be run before; no tasks when there are no levels
  dependencies scan_order;
  std::size_t shared_bytes = 0;   // of workspace, a multiple of a page
  std::size_t scratch_bytes = 0;  // of every worker, a multiple of a page

  [[nodiscard]] std::size_t bytes() const noexcept {
    return shared_bytes + scratch_bytes * static_cast<std::size_t>(how.workers);
  }
};

/// Thread-safe; forgets the plan that has not been used for longest.
class plan_cache {
public:
  [[nodiscard]] std::shared_ptr<prepared_plan const> find(plan_key const& key) {
    std::lock_guard const lock(mutex_);
    for (auto it = entries_.begin(); it != entries_.end(); ++it) {
      if (!(it->first == key)) continue;
      entries_.splice(entries_.begin(), entries_, it);
      return entries_.front().second;
    }
    return nullptr;
  }

  void insert(plan_key const& key, std::shared_ptr<prepared_plan const> value) {
    std::lock_guard const lock(mutex_);
    entries_.emplace_front(key, std::move(value));
    if (entries_.size() > capacity) entries_.pop_back();
  }

private:
  static constexpr std::size_t capacity = 16;
  std::mutex mutex_;
  std::list<std::pair<plan_key, std::shared_ptr<prepared_plan const>>> entries_;  // latest first
};

}  // namespace heptad
