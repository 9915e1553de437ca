// SPDX-License-Identifier: BSD-3-Clause
// A block of A takes half of L2: the lines of the next one, of B and of C pass through the other half. Where B is kept,
// another block of A costs no packing of B, and a third leaves more of a cache that a second thread may share: on a Zen
// 3 whose cores are shared, 0.97 of MKL instead of 0.94.
#include "codelets/cpu/blocks_for_caches.hpp"

#include <unistd.h>

#include <algorithm>

#include "src/matrix/limits.hpp"

namespace heptad::cpu {

blocking blocks_for_caches(int mr, int nr, int element_bytes) {
  static long const l2 = std::max(sysconf(_SC_LEVEL2_CACHE_SIZE), 256L << 10);
  constexpr int kc = most_k_block, columns = 16;
  auto const whole = [](int extent, int tile) { return (extent + tile - 1) / tile * tile; };
  bool const keeps = keeps_packed_b(static_cast<double>(l2), element_bytes);
  int const rows = static_cast<int>(l2 * (keeps ? 3 : 5) / 10 / (kc * element_bytes));
  int const kept = keeps ? whole(kept_b_bytes / (kc * element_bytes), nr) : 0;
  return {.mr = mr, .nr = nr, .mc = whole(rows, mr), .kc = kc, .nc = whole(columns, nr), .kept = kept};
}

}  // namespace heptad::cpu
