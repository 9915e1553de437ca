// SPDX-License-Identifier: BSD-3-Clause
// What is made at its first use and never destroyed: exit handlers of the program may still multiply. A fork while
// another thread makes it leaves it to the child to make, where the guard of a static object would never open.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <atomic>

namespace heptad {

template <typename T>
class lasting {
public:
  /// `make` is called once, and again after it threw.
  template <typename Make>
  T& get(Make const& make) {
    for (;;) {
      if (T* const made = made_.load()) return *made;
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
    if (made_.load() == nullptr) made_ = new T(make());
  }

  static constexpr pid_t nobody = 0;

  std::atomic<T*> made_{nullptr};
  std::atomic<pid_t> maker_{nobody};  // the process, one of whose threads makes it: a child's parent does not
};

}  // namespace heptad
