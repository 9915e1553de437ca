// SPDX-License-Identifier: BSD-3-Clause
// Allocations that fail on demand: operator new of a program and of its libraries, the blocks of workspace, and the
// room that oneTBB makes for tasks.
#pragma once

#include <atomic>
#include <cstddef>

#include "src/api/memory.hpp"
#include "tests/new_operators.hpp"

namespace heptad::fuzz {

/// Whether later ones succeed again after the one that fails.
enum class failure { one, all_from_there };

// Negative: nothing fails. Otherwise so many more allocations succeed.
inline std::atomic<long> remaining{-1};
inline std::atomic<long> failures{0};
inline std::atomic<bool> go_on_failing{false};

bool fails();

/// While it lives, allocation number `first` (from 0) of the process fails.
class failing_memory {
public:
  failing_memory(long first, failure how) {
    failures = 0;
    go_on_failing = how == failure::all_from_there;
    remaining = first;
    test::allocation_succeeds = [] { return !fails(); };
    set_allocation_gate([](std::size_t) { return !fails(); });
  }
  ~failing_memory() { remaining = -1; }
};

}  // namespace heptad::fuzz
