// SPDX-License-Identifier: BSD-3-Clause
// Measured on two kinds of core: 48 KiB of L1 and 2 MiB of L2 have room for k-blocks of 512, smaller caches for 256.
#include "codelets/cpu/blocks_for_caches.hpp"

#include <unistd.h>

namespace heptad::cpu {

blocking blocks_for_caches(int mr, int nr, int element_bytes) {
  static long const l1 = sysconf(_SC_LEVEL1_DCACHE_SIZE), l2 = sysconf(_SC_LEVEL2_CACHE_SIZE);
  bool const roomy = l1 >= (48 << 10) && l2 >= (2 << 20);
  int const kc = roomy ? 512 : 256;
  long const a_block = roomy ? 1 << 19 : 480 << 10;  // bytes
  int const mc = static_cast<int>(a_block / (static_cast<long>(kc) * element_bytes)) / mr * mr;
  constexpr int short_kc = 256, short_nc = 16;
  int const short_mc = static_cast<int>((l2 / 2 / (short_kc * element_bytes) + mr - 1) / mr * mr);
  return {mr, nr, mc, kc, 4096, short_mc, short_kc, short_nc};
}

}  // namespace heptad::cpu
