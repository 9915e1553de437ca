// SPDX-License-Identifier: BSD-3-Clause
// In a file of its own: where the compiler saw that they are malloc, it would leave calls out.
#include "tests/new_operators.hpp"

#include <cstdlib>
#include <new>

namespace {

void* allocate(std::size_t bytes, std::size_t alignment = alignof(std::max_align_t)) {
  ++heptad::test::allocations;
  auto const succeeds = heptad::test::allocation_succeeds.load();
  if (succeeds != nullptr && !succeeds()) return nullptr;
  return std::aligned_alloc(alignment, (bytes + alignment - (bytes > 0)) / alignment * alignment);
}

void* allocate_or_throw(std::size_t bytes, std::size_t alignment = alignof(std::max_align_t)) {
  if (void* const block = allocate(bytes, alignment)) return block;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t bytes) { return allocate_or_throw(bytes); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate_or_throw(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, std::nothrow_t const&) noexcept { return allocate(bytes); }
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }
void operator delete(void* block, std::align_val_t) noexcept { std::free(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { std::free(block); }
