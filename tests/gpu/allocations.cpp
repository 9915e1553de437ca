// SPDX-License-Identifier: BSD-3-Clause
// Counts what operator new hands out, in a file of its own: no other one sees that it is malloc.
#include "tests/gpu/allocations.hpp"

#include <cstdlib>
#include <new>

std::atomic<std::size_t> host_allocations = 0;

void* operator new(std::size_t bytes) {
  ++host_allocations;
  if (void* const p = std::malloc(bytes)) return p;
  throw std::bad_alloc();
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
