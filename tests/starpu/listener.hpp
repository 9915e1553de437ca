// SPDX-License-Identifier: BSD-3-Clause
// What our code asks of StarPU, which does it all the same: functions of the test program stand before StarPU's own.
#pragma once

#include <starpu.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <vector>

namespace heptad::test {

struct heard {
  struct task {
    std::string name;  // empty: an access to the whole of C
    int priority = 0;
    unsigned sched_ctx = 0;
    unsigned where = 0;  // STARPU_CPU | …
    int handles = 0;
  };
  std::vector<task> tasks;                    // of Heptad's codelets, in the order of their submission
  std::set<starpu_data_handle_t> registered;  // and not unregistered
  int matrices = 0, locks = 0;                // registered in all; a lock is a handle without data
  int pauses = 0, resumes = 0;

  /// Tasks of the graph.
  [[nodiscard]] std::vector<task> of_graph() const {
    std::vector<task> named;
    std::ranges::copy_if(tasks, std::back_inserter(named), [](task const& t) { return !t.name.empty(); });
    return named;
  }
};

/// Hears what is asked while it lives; one at a time.
class listener {
public:
  listener();
  ~listener();
  listener(listener const&) = delete;
  listener& operator=(listener const&) = delete;
  /// So far. Tasks may still be ending.
  [[nodiscard]] heard so_far() const;
};

}  // namespace heptad::test
