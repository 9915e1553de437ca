// SPDX-License-Identifier: BSD-3-Clause
// Mutexes of the process, and forks: a thread of the parent may hold one while another thread forks, and the child
// would wait for it for ever.
#pragma once

#include <pthread.h>

namespace heptad {

/// Beside a constinit mutex: a fork waits until nobody holds it, so that the child finds it open and what it guards
/// whole. A fork takes all such mutexes, so none is taken while another one is held.
template <auto& Mutex>
class fork_safe {
public:
  fork_safe() noexcept {
    pthread_atfork([] { Mutex.lock(); }, [] { Mutex.unlock(); }, [] { Mutex.unlock(); });
  }
};

}  // namespace heptad
