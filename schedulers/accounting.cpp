// SPDX-License-Identifier: BSD-3-Clause
// How much of its workers' time a run put to use.
#include "schedulers/scheduler.hpp"

namespace heptad {

void add_busy_seconds(run_result const& r, std::span<double> busy) {
  for (task_record const& record : r.records)
    busy[static_cast<std::size_t>(record.worker)] += record.end - record.begin;
}

std::vector<double> busy_seconds(run_result const& r) {
  std::vector<double> busy(static_cast<std::size_t>(r.workers), 0.0);
  add_busy_seconds(r, busy);
  return busy;
}

}  // namespace heptad
