// SPDX-License-Identifier: BSD-3-Clause
// Block sizes that fit this processor's caches.
#pragma once

#include "codelets/cpu/kernel_set.hpp"

namespace heptad::cpu {

/// For mr×nr tiles of elements of `element_bytes`. A packed B panel takes half of L1 or less, a packed A block a
/// quarter to half of L2 (Low et al., Analytical Modeling Is Enough for High-Performance BLIS, 2016).
blocking blocks_for_caches(int mr, int nr, int element_bytes);

}  // namespace heptad::cpu
