// SPDX-License-Identifier: BSD-3-Clause
// Counts what operator new hands out, in a file of its own: no other one sees that it is malloc.
#include "tests/api/counted_allocations.hpp"

#include <cstdlib>
#include <new>

void* operator new(std::size_t bytes) {
  ++heptad::test::allocations;
  if (void* const p = std::malloc(bytes)) return p;
  throw std::bad_alloc();
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  ++heptad::test::allocations;
  auto const step = static_cast<std::size_t>(alignment);
  if (void* const p = std::aligned_alloc(step, (bytes + step - 1) / step * step)) return p;
  throw std::bad_alloc();
}
void* operator new(std::size_t bytes, std::nothrow_t const&) noexcept {
  ++heptad::test::allocations;
  return std::malloc(bytes);
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
