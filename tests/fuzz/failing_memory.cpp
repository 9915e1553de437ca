// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fuzz/failing_memory.hpp"

#include <dlfcn.h>
#include <oneapi/tbb/task_group.h>

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

/// In front of oneTBB's own, which this calls.
void tbb::detail::r1::spawn(d1::task& task, d1::task_group_context& context) {
  using function = void (*)(d1::task&, d1::task_group_context&);
  static auto const real =
      reinterpret_cast<function>(dlsym(RTLD_NEXT, "_ZN3tbb6detail2r15spawnERNS0_2d14taskERNS2_18task_group_contextE"));
  if (heptad::fuzz::fails()) throw std::bad_alloc();
  real(task, context);
}
