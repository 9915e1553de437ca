// SPDX-License-Identifier: BSD-3-Clause
// How much of its workers' time a run put to use.
#include <numeric>

#include "schedulers/scheduler.hpp"

namespace heptad {

std::vector<double> busy_seconds(run_result const& r) {
  std::vector<double> busy(static_cast<std::size_t>(r.workers), 0.0);
  for (task_record const& record : r.records)
    busy[static_cast<std::size_t>(record.worker)] += record.end - record.begin;
  return busy;
}

double idle_fraction(run_result const& r) {
  if (r.seconds <= 0) return 0;
  std::vector<double> const busy = busy_seconds(r);
  return 1 - std::accumulate(busy.begin(), busy.end(), 0.0) / (r.workers * r.seconds);
}

}  // namespace heptad
