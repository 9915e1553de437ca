// SPDX-License-Identifier: BSD-3-Clause
// oneTBB starts no more workers than there are cores, unless a global_control says so, and of several it follows the
// least. So all contexts of the process share one, with what the largest of them asks for.
#pragma once

#include <set>

namespace heptad {

/// While it lives, oneTBB may start workers for so many threads. Not to be made in the child of a fork. Thread-safe.
class worker_limit {
public:
  explicit worker_limit(int threads);
  ~worker_limit();
  worker_limit(worker_limit const&) = delete;
  worker_limit& operator=(worker_limit const&) = delete;

private:
  std::multiset<int>::iterator mine_;
};

}  // namespace heptad
