// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>

namespace heptad::test {

/// Calls of operator new in this program so far, the ones for alignments among them.
inline std::atomic<std::size_t> allocations = 0;

}  // namespace heptad::test
