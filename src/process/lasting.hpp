// SPDX-License-Identifier: BSD-3-Clause
// What is made at its first use and never destroyed: exit handlers of the program may still multiply. A fork while
// another thread makes it leaves it to the child to make, where the guard of a static object would never open.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <new>

namespace heptad {

/// std::call_once for the process and the children that it forks.
class once {
public:
  /// `make` is called once, and again after it threw. One that reaches the same object again waits for itself, for
  /// ever.
  template <typename Make>
  void call(Make const& make) {
    while (!made_.load()) {
      pid_t const self = getpid();
      pid_t maker = maker_.load();
      if (maker == self) maker_.wait(self);  // for another thread
      else if (maker_.compare_exchange_strong(maker, self)) make_unless_made(make);
    }
  }

private:
  template <typename Make>
  void make_unless_made(Make const& make) {
    struct let_others_go_on {
      std::atomic<pid_t>& maker;
      ~let_others_go_on() {
        maker = nobody;
        maker.notify_all();
      }
    } const at_the_end{maker_};
    if (made_.load()) return;
    make();
    made_ = true;
  }

  static constexpr pid_t nobody = 0;

  std::atomic<bool> made_{false};
  std::atomic<pid_t> maker_{nobody};  // the process, one of whose threads makes it: a child's parent does not
};

/// A static constinit object.
template <typename T>
class lasting {
public:
  /// `make` as of once.
  template <typename Make>
  T& get(Make const& make) {
    once_.call([&] { ::new (static_cast<void*>(place_)) T(make()); });
    return *std::launder(reinterpret_cast<T*>(place_));
  }

private:
  once once_;
  alignas(T) std::byte place_[sizeof(T)]{};  // its own, so that only `make` may lack memory
};

}  // namespace heptad
