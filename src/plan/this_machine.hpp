// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>

namespace heptad {

struct machine_facts {
  std::string cpu;  ///< empty where it has no name
  int cores = 1;
  std::size_t memory_bytes = 0;
  std::size_t l2_bytes = 0, l3_bytes = 0;  ///< 0: no such cache
};

/// What hwloc says of this machine. Asked once in a process, as it takes milliseconds. Null when it could not be asked.
machine_facts const* this_machine();

}  // namespace heptad
