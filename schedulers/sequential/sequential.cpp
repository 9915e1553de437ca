// SPDX-License-Identifier: BSD-3-Clause
// The oracle: tasks in program order on the calling thread.
#include "schedulers/sequential/sequential.hpp"

#include <chrono>

namespace heptad {

run_result run_sequential(graph const& g, executor const& work, std::byte* scratch, std::pmr::memory_resource* memory) {
  using clock = std::chrono::steady_clock;
  if (scratch == nullptr && work.scratch_bytes() > 0) {
    throw error(status::out_of_memory, "no scratch of " + std::to_string(work.scratch_bytes()) +
                                           " bytes for the calling thread; C is untouched");
  }
  clock::time_point const start = clock::now();
  auto const elapsed = [start] { return std::chrono::duration<double>(clock::now() - start).count(); };

  run_result result{std::pmr::vector<task_record>(memory)};
  result.records.reserve(g.tasks.size());
  for (std::size_t t = 0; t < g.tasks.size(); ++t) {
    double const begin = elapsed();
    work.run(g.tasks[t], scratch);
    result.records.push_back({static_cast<int>(t), 0, begin, elapsed()});
  }
  result.seconds = elapsed();
  return result;
}

}  // namespace heptad
