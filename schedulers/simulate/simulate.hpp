// SPDX-License-Identifier: BSD-3-Clause
// A dry run: how long a graph would take on p workers, by list scheduling with known task costs. Pure.
#pragma once

#include <span>
#include <vector>

#include "schedulers/scheduler.hpp"
#include "tasks/graph.hpp"

namespace heptad {

struct simulated_machine {
  int workers = 1;
  /// Memory traffic that all workers can make together, bytes/s; 0: no limit. Only passes (combine and scale) share it,
  /// each asking for its bytes / seconds: products live in their caches.
  double bandwidth = 0;
};

struct simulation {
  run_result run;            // as a real run would have recorded it
  double work = 0;           // Σ seconds of the tasks
  double critical_path = 0;  // the longest chain of dependent tasks, seconds: no number of workers is faster
};

/// Ready tasks start by priority on the lowest idle worker; tasks with a common exclusion never overlap.
/// seconds: of every task, alone on one worker.
simulation simulate(graph const& g, dependencies const& d, std::span<double const> seconds,
                    simulated_machine const& machine);

/// The costs that the graph predicts, and those that a run has measured.
std::vector<double> predicted_seconds(graph const& g);
std::vector<double> measured_seconds(graph const& g, run_result const& r);

}  // namespace heptad
