// SPDX-License-Identifier: BSD-3-Clause
// A block of A takes half of L2: the lines of the next one, of B and of C pass through the other half. Where B is kept,
// another block of A costs no packing of B, and a third leaves more of a cache that a second thread may share: on a Zen
// 3 whose cores are shared, 0.97 of MKL instead of 0.94. Half of a cache that holds many rows is still best for an A
// that is not larger.
#include "codelets/cpu/blocks_for_caches.hpp"

#include <unistd.h>

#include <algorithm>

#include "src/matrix/limits.hpp"
#include "src/process/lasting.hpp"

namespace heptad::cpu {

blocking blocks_for_caches(int mr, int nr, int element_bytes) {
  static constinit lasting<long const> found;
  long const l2 = found.get([] { return std::max(sysconf(_SC_LEVEL2_CACHE_SIZE), 256L << 10); });
  constexpr int kc = most_k_block, columns = 16;
  auto const whole = [](int extent, int tile) { return (extent + tile - 1) / tile * tile; };
  auto const rows = [&](int tenths) { return whole(static_cast<int>(l2 * tenths / 10 / (kc * element_bytes)), mr); };
  auto const l2_bytes = static_cast<double>(l2);
  return {.mr = mr,
          .nr = nr,
          .mc = rows(holds_few_rows(l2_bytes, element_bytes) ? 3 : 5),
          .kc = kc,
          .nc = whole(columns, nr),
          .mc_beside_kept = rows(3),
          .kept = keeps_packed_b(l2_bytes, element_bytes) ? whole(kept_b_bytes / (kc * element_bytes), nr) : 0};
}

template <int mr, int nr, int element_bytes>
blocking const& blocks_for_caches() {
  static constinit lasting<blocking const> found;
  return found.get([] { return blocks_for_caches(mr, nr, element_bytes); });
}

template blocking const& blocks_for_caches<24, 8, sizeof(double)>();
template blocking const& blocks_for_caches<48, 8, sizeof(float)>();
template blocking const& blocks_for_caches<12, 4, sizeof(double)>();
template blocking const& blocks_for_caches<24, 4, sizeof(float)>();

}  // namespace heptad::cpu
