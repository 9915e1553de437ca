// SPDX-License-Identifier: BSD-3-Clause
// A block of A takes half of L2: the lines of the next one, of B and of C pass through the other half.
#include "codelets/cpu/blocks_for_caches.hpp"

#include <unistd.h>

#include <algorithm>

namespace heptad::cpu {

blocking blocks_for_caches(int mr, int nr, int element_bytes) {
  static long const l2 = std::max(sysconf(_SC_LEVEL2_CACHE_SIZE), 256L << 10);
  constexpr int kc = 256, columns = 16;
  int const rows = static_cast<int>(l2 / 2 / (kc * element_bytes));
  return {.mr = mr, .nr = nr, .mc = (rows + mr - 1) / mr * mr, .kc = kc, .nc = (columns + nr - 1) / nr * nr};
}

}  // namespace heptad::cpu
