// SPDX-License-Identifier: BSD-3-Clause
// Runs the graphs of a prepared plan: that of the product, and those that look at A and B before it.
#pragma once

#include <memory_resource>

#include <heptad/heptad.hpp>

#include "schedulers/executor.hpp"
#include "schedulers/scheduler.hpp"
#include "src/api/arguments.hpp"
#include "src/api/context.hpp"
#include "src/api/prepare.hpp"

namespace heptad {

/// A scheduler with its workers. What runs leaves its notes in the memory given.
struct graph_runner {
  worker_group const& group;
  scheduler_kind scheduler = scheduler_kind::tbb;
  scheduler_kind graphs = scheduler_kind::tbb;  ///< whose it runs: on main memory alone StarPU those of oneTBB
  int lanes = 0;                                ///< see lease_wishes

  /// Whether the look at A and B makes the first passes of the product. StarPU may run the rest with another scratch.
  [[nodiscard]] bool opens() const;

  template <typename T>
  [[nodiscard]] run_result multiply(prepared_plan const& p, executor const& work, operands<T> const& x,
                                    workspace const& memory, std::pmr::memory_resource* notes) const;

  /// The graph that look() runs.
  [[nodiscard]] scan_graph const& look_of(prepared_plan const& p) const { return opens() ? p.opening : p.scan; }

  run_result look(prepared_plan const& p, executor const& work, workspace const& memory,
                  std::pmr::memory_resource* notes) const;

private:
  [[nodiscard]] bool alone() const;
  [[nodiscard]] run_result run_on_arena(graph const& g, dependencies const& order, executor const& work, int workers,
                                        workspace const& memory, std::pmr::memory_resource* notes) const;
};

}  // namespace heptad
