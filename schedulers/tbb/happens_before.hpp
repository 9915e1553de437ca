// SPDX-License-Identifier: BSD-3-Clause
// What oneTBB guarantees and ThreadSanitizer cannot see, as a distribution's libtbb is not instrumented: what a thread
// did before it handed work over happens before that work. Nothing outside a ThreadSanitizer build.
#pragma once

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace heptad {

/// All that this thread has done happens before what follows a later happens_after of the same object.
inline void happens_before([[maybe_unused]] void const* object) noexcept {
#if defined(__SANITIZE_THREAD__)
  __tsan_release(const_cast<void*>(object));
#endif
}

inline void happens_after([[maybe_unused]] void const* object) noexcept {
#if defined(__SANITIZE_THREAD__)
  __tsan_acquire(const_cast<void*>(object));
#endif
}

/// After a wait for the last release of a counter: libtbb has read it there, which ThreadSanitizer cannot see.
template <typename Counter>
void happens_after_last_release([[maybe_unused]] Counter& counter) noexcept {
#if defined(__SANITIZE_THREAD__)
  counter.reserve();
  counter.release();
#endif
}

/// What TBB is given to run: a member function, ordered after its object's last happens_before. Its pointer is read
/// before that order is known, which tests/tsan.supp exempts by this file.
template <typename Object, void (Object::*Body)()>
struct tbb_entry {
  Object* object;
  void operator()() const {
    happens_after(object);
    (object->*Body)();
    happens_before(object);
  }
};

}  // namespace heptad
