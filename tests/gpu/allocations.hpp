// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>

/// Calls of operator new in this program so far.
extern std::atomic<std::size_t> host_allocations;
