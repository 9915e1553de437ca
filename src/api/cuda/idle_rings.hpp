// SPDX-License-Identifier: BSD-3-Clause
// The pinned memory of the last products of host matrices, for the next ones.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "schedulers/cuda/pinned_ring.hpp"

namespace heptad::cuda {

/// There and back. Their events are of the device that was current when they were made.
struct rings {
  int device;
  std::size_t bytes;  // as asked for
  int copy_threads;
  pinned_ring in, out;

  rings(int on, std::size_t all, int threads)
      : device(on), bytes(all), copy_threads(threads), in(all / 2, threads), out(all / 2, threads) {}
};

class idle_rings {
public:
  /// `device`: the current one.
  static std::unique_ptr<rings> take(int device, std::size_t bytes, int copy_threads) {
    {
      std::lock_guard const lock(mutex());
      auto const found = std::ranges::find_if(all(), [&](auto const& r) {
        return r->device == device && r->bytes == bytes && r->copy_threads == copy_threads;
      });
      if (found != all().end()) {
        auto known = std::move(*found);
        all().erase(found);
        return known;
      }
    }
    return std::make_unique<rings>(device, bytes, copy_threads);
  }
  static void give(std::unique_ptr<rings> used) {
    std::lock_guard const lock(mutex());
    all().push_back(std::move(used));
  }
  static void release() {
    std::lock_guard const lock(mutex());
    all().clear();
  }

private:
  static std::mutex& mutex() {
    static std::mutex m;
    return m;
  }
  // Never destroyed: at exit the driver may be gone before static objects are.
  static std::vector<std::unique_ptr<rings>>& all() {
    static auto* const kept = new std::vector<std::unique_ptr<rings>>;
    return *kept;
  }
};

}  // namespace heptad::cuda
