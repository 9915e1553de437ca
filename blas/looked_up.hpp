// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>

namespace heptad::blas {

/// What is found again when it is looked up again: by whoever comes first, or by several at once, as the child of a
/// fork could not wait for a thread of its parent. A static constinit object.
class looked_up {
public:
  template <typename Look>
  void* get(Look const& look) {
    if (!known_) {
      found_ = look();
      known_ = true;
    }
    return found_;
  }

private:
  std::atomic<void*> found_{nullptr};
  std::atomic<bool> known_{false};
};

}  // namespace heptad::blas
