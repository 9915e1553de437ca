// SPDX-License-Identifier: BSD-3-Clause
// operator new of a test program and of the libraries that it loads: it counts, and fails when a test says so.
#pragma once

#include <atomic>
#include <cstddef>

namespace heptad::test {

/// Calls of operator new so far, the ones for alignments among them.
inline std::atomic<std::size_t> allocations{0};
/// Asked before each; false: there is no memory for it. Null: there is always.
inline std::atomic<bool (*)()> allocation_succeeds{nullptr};

}  // namespace heptad::test
