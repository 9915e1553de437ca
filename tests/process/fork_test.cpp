// SPDX-License-Identifier: BSD-3-Clause
// Forks while another thread is in the middle of something.
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <mutex>
#include <thread>

#include "src/process/fork_safe.hpp"
#include "src/process/lasting.hpp"
#include "tests/dropin/in_child.hpp"

using namespace heptad;

namespace {

constinit std::mutex mutex;
fork_safe<mutex> const in_forks;

}  // namespace

TEST_CASE("what another thread makes at a fork is made by the child, and by that thread") {
  static constinit lasting<int> number;
  std::atomic<bool> making{false}, forked{false};
  std::thread other([&] {
    (void)number.get([&] {
      making = true;
      forked.wait(false);
      return 1;
    });
  });
  while (!making) std::this_thread::yield();
  CHECK(dropin::in_child([] { return number.get([] { return 2; }) == 2; }));
  forked = true;
  forked.notify_all();
  other.join();
  CHECK(number.get([] { return 3; }) == 1);
}

TEST_CASE("a fork waits for who holds a mutex, and the child finds it open and what it guards whole") {
  std::atomic<bool> held{false};
  bool whole = false;
  std::thread other([&] {
    std::lock_guard const lock(mutex);
    held = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // the fork comes in
    whole = true;
  });
  while (!held) std::this_thread::yield();
  CHECK(dropin::in_child([&] { return mutex.try_lock() && whole; }));
  other.join();
  CHECK(mutex.try_lock());
  mutex.unlock();
}
