// SPDX-License-Identifier: BSD-3-Clause
// The operators, apart from what calls them: in one file the compiler would see through them.
#include "tests/fuzz/failing_memory.hpp"

#include <dlfcn.h>
#include <oneapi/tbb/task_group.h>

#include <cstdlib>
#include <new>

namespace heptad::fuzz {

bool fails() {
  if (remaining.load() < 0) return false;
  long const left = remaining.fetch_sub(1);
  if (left > 0) return false;
  if (go_on_failing) remaining = 0;
  ++failures;
  return true;
}

}  // namespace heptad::fuzz

namespace {

void* allocate(std::size_t bytes, std::size_t alignment = alignof(std::max_align_t)) {
  if (heptad::fuzz::fails()) return nullptr;
  return std::aligned_alloc(alignment, (bytes + alignment - (bytes > 0)) / alignment * alignment);
}

}  // namespace

void* operator new(std::size_t bytes) {
  if (void* const block = allocate(bytes)) return block;
  throw std::bad_alloc();
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  if (void* const block = allocate(bytes, static_cast<std::size_t>(alignment))) return block;
  throw std::bad_alloc();
}
void* operator new(std::size_t bytes, std::nothrow_t const&) noexcept { return allocate(bytes); }
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }
void operator delete(void* block, std::align_val_t) noexcept { std::free(block); }
void operator delete(void* block, std::size_t, std::align_val_t) noexcept { std::free(block); }

/// In front of oneTBB's own, which this calls.
void tbb::detail::r1::spawn(d1::task& task, d1::task_group_context& context) {
  using function = void (*)(d1::task&, d1::task_group_context&);
  static auto const real =
      reinterpret_cast<function>(dlsym(RTLD_NEXT, "_ZN3tbb6detail2r15spawnERNS0_2d14taskERNS2_18task_group_contextE"));
  if (heptad::fuzz::fails()) throw std::bad_alloc();
  real(task, context);
}
