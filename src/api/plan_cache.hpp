// SPDX-License-Identifier: BSD-3-Clause
// Recent plans with their graphs, and what calls of them need: a repeated call plans, builds and allocates nothing.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <heptad/heptad.hpp>

#include "schedulers/cuda/backend.hpp"
#include "schedulers/executor.hpp"
#include "src/api/call_memory.hpp"
#include "tasks/gemm_graph.hpp"
#include "tasks/scan_graph.hpp"

namespace heptad {

/// All that a plan follows from but the machine, which does not change.
struct plan_key {
  element_type type;
  problem shape;
  int workers = 1;
  options wishes;
  int devices = 0;  // CUDA devices of a task runtime that takes tasks of the graph

  friend bool operator==(plan_key const&, plan_key const&) = default;
};

/// What a call needs beside its workspace; of one call at a time.
struct call_kit {
  std::unique_ptr<executor> work;  // of the plan's graph, to be bound to operands; none before the first call
  call_memory memory;
};

/// Those of one plan, as many as there were calls at once. Thread-safe.
class call_kits {
public:
  struct give_back {
    call_kits* home;
    void operator()(call_kit* kit) const noexcept { home->keep(kit); }
  };
  using lease = std::unique_ptr<call_kit, give_back>;

  [[nodiscard]] lease take() {
    std::lock_guard const lock(mutex_);
    if (idle_.empty()) {
      idle_.reserve(++made_);  // so that keep() allocates nothing
      return {new call_kit, {this}};
    }
    call_kit* const kit = idle_.back().release();
    idle_.pop_back();
    return {kit, {this}};
  }

private:
  void keep(call_kit* kit) noexcept {
    kit->memory.reset();
    std::lock_guard const lock(mutex_);
    idle_.emplace_back(kit);
  }

  std::mutex mutex_;
  std::size_t made_ = 0;
  std::vector<std::unique_ptr<call_kit>> idle_;
};

/// A plan, ready to run on any operands of its shape.
struct prepared_plan {
  plan how;
  graph work;
  tiling cut = tiling::strips;
  dependencies order;
  // Looks at the operands, to be run before; no tasks when there are no levels. `opening` makes the first passes of the
  // product on the way, in the workspace of this call; `scan` is for runtimes where that is not at hand.
  scan_graph scan, opening;
  dependencies scan_order, opening_order;
  // A and B are looked at before: those of the latest call held what a product made meanwhile could not know. Of calls
  // without scaling, and of those with automatic scaling, which ask more of them.
  mutable std::array<std::atomic<bool>, 2> looks_first{};
  std::unique_ptr<stream_tasks const> on_devices;  // null: no device takes a task
  bool only_on_devices = false;                    // every device task is too large for a CPU core
  std::size_t shared_bytes = 0;                    // of workspace, a multiple of a page
  std::size_t scratch_bytes = 0;                   // of every worker, a multiple of a page
  mutable call_kits kits;

  [[nodiscard]] std::size_t bytes() const noexcept {
    return shared_bytes + scratch_bytes * static_cast<std::size_t>(how.workers);
  }
};

/// The same levels, variant and order for the same product: what a graph follows from.
bool same_choices(plan const& a, plan const& b);

/// Thread-safe; forgets the plan that has not been used for longest.
template <typename Key>
class latest_plans {
public:
  explicit latest_plans(std::size_t capacity) : capacity_(capacity) {}

  /// matches(key): is it this one?
  template <typename Matches>
  [[nodiscard]] std::shared_ptr<prepared_plan const> find(Matches const& matches) {
    std::lock_guard const lock(mutex_);
    for (auto it = entries_.begin(); it != entries_.end(); ++it) {
      if (!matches(it->first)) continue;
      entries_.splice(entries_.begin(), entries_, it);
      return entries_.front().second;
    }
    return nullptr;
  }

  void insert(Key key, std::shared_ptr<prepared_plan const> value) {
    std::lock_guard const lock(mutex_);
    entries_.emplace_front(std::move(key), std::move(value));
    if (entries_.size() > capacity_) entries_.pop_back();
  }

private:
  std::size_t const capacity_;
  std::mutex mutex_;
  std::list<std::pair<Key, std::shared_ptr<prepared_plan const>>> entries_;  // latest first
};

/// A caller's plan; the graph also follows from who runs it.
struct brought_plan {
  plan how;
  scheduler_kind scheduler = scheduler_kind::tbb;
};

/// Of calls that leave the plan to Heptad, and of those that bring one.
struct plan_cache {
  latest_plans<plan_key> planned{16};
  latest_plans<brought_plan> brought{64};
};

}  // namespace heptad
