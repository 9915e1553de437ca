// SPDX-License-Identifier: BSD-3-Clause
#include "src/api/worker_limit.hpp"

#include <oneapi/tbb/global_control.h>

#include <memory>
#include <mutex>
#include <new>

#include "src/api/context.hpp"

namespace heptad {
namespace {

using control = oneapi::tbb::global_control;

struct shared_control {
  std::mutex mutex;
  std::multiset<int> asked;
  int allowed = 0;
  std::unique_ptr<control> current;

  void follow() {
    int const most = asked.empty() ? 0 : *asked.rbegin();
    if (most == allowed) return;
    std::unique_ptr<control> next;
    if (most > 0) next = std::make_unique<control>(control::max_allowed_parallelism, static_cast<std::size_t>(most));
    current.swap(next);
    allowed = most;
  }
};

/// Never destroyed: contexts may live until the process ends.
shared_control& the_control() {
  static auto& instance = *new shared_control;
  return instance;
}

}  // namespace

worker_limit::worker_limit(int threads) {
  shared_control& all = the_control();
  std::lock_guard const lock(all.mutex);
  mine_ = all.asked.insert(threads);
  try {
    all.follow();
  } catch (...) {
    all.asked.erase(mine_);
    throw;
  }
}

worker_limit::~worker_limit() {
  if (without_workers()) return;  // a thread of the parent may have held the lock
  shared_control& all = the_control();
  std::lock_guard const lock(all.mutex);
  all.asked.erase(mine_);
  try {
    all.follow();
  } catch (std::bad_alloc const&) {
    // More than is asked for stays allowed.
  }
}

}  // namespace heptad
