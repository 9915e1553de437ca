// SPDX-License-Identifier: BSD-3-Clause
// What is made at its first use and never destroyed: exit handlers of the program may still multiply. A fork while
// another thread makes it leaves it to the child to make, where the guard of a static object would never open.
#pragma once

#include <mutex>

namespace heptad {

template <typename T>
class lasting {
public:
  /// `make` is called once, and again after it threw.
  template <typename Make>
  T& get(Make const& make) {
    std::call_once(once_, [&] { made_ = new T(make()); });
    return *made_;
  }

private:
  std::once_flag once_;
  T* made_ = nullptr;
};

}  // namespace heptad
