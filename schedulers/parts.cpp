// SPDX-License-Identifier: BSD-3-Clause
#include "schedulers/parts.hpp"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace heptad {

void run_parts(std::span<std::size_t const> on_cpu, std::span<std::size_t const> on_devices, part_work& work) {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::size_t> left;  // by devices, untouched
  std::size_t running = on_devices.size();
  left.reserve(running);
  auto const tell = [&](std::size_t part, part_end end) {
    std::lock_guard const lock(mutex);
    if (end == part_end::untouched) left.push_back(part);
    --running;
    changed.notify_one();
  };
  // Who has nothing else to do waits for a device itself: a thread that wakes takes a few tenths of a millisecond.
  bool const idle = on_cpu.empty() && !on_devices.empty();
  std::vector<std::jthread> threads;
  threads.reserve(running);
  for (std::size_t const part : idle ? on_devices.first(on_devices.size() - 1) : on_devices) {
    try {
      threads.emplace_back([&tell, &work, part] { tell(part, work.on_device(part)); });
    } catch (std::exception const&) {  // std::system_error, std::bad_alloc
      tell(part, part_end::untouched);
    }
  }
  if (idle) tell(on_devices.back(), work.on_device(on_devices.back()));
  for (std::size_t const part : on_cpu) work.on_cpu(part);
  std::unique_lock lock(mutex);
  for (;;) {
    changed.wait(lock, [&] { return !left.empty() || running == 0; });
    if (left.empty()) return;
    std::size_t const part = left.back();
    left.pop_back();
    lock.unlock();
    work.on_cpu(part);
    lock.lock();
  }
}

}  // namespace heptad
