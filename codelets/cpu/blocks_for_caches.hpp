// SPDX-License-Identifier: BSD-3-Clause
// Block sizes that fit this processor's caches.
#pragma once

#include "codelets/cpu/kernel_set.hpp"

namespace heptad::cpu {

/// For mr×nr tiles of elements of `element_bytes`: half of L2 for the block of A, 32 KiB at most for the columns of B.
blocking blocks_for_caches(int mr, int nr, int element_bytes);
/// The same, found once: every product asks for them. Of the tiles of our own vector kernels.
template <int mr, int nr, int element_bytes>
blocking const& blocks_for_caches();

}  // namespace heptad::cpu
