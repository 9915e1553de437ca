// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>

namespace heptad {

using steady = std::chrono::steady_clock;

inline double seconds_since(steady::time_point begin) {
  return std::chrono::duration<double>(steady::now() - begin).count();
}

}  // namespace heptad
