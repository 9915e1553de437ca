// SPDX-License-Identifier: BSD-3-Clause
#include "src/plan/known_algorithms.hpp"

#include <map>
#include <mutex>
#include <utility>

#include "src/plan/find_or_make.hpp"
#include "src/process/fork_safe.hpp"

namespace heptad {
namespace {

struct everything_known {
  std::map<algorithm const*, known_algorithm> algorithms;
  std::map<std::pair<algorithm const*, std::size_t>, product_waits> waits;  // by the number of the order
};

constinit std::mutex mutex;
fork_safe<mutex> const in_forks;

/// Under the mutex. Never destroyed: exit handlers of the program may still multiply.
everything_known& all() {
  static auto& known = *new everything_known;
  return known;
}

}  // namespace

known_algorithm const& know(std::shared_ptr<algorithm const> const& x) {
  std::lock_guard const lock(mutex);
  auto& [known, waits] = all();
  // A search for algorithms asks for thousands that nobody else holds any more.
  constexpr std::size_t many = 256;
  if (known.size() > many) {
    std::erase_if(known, [](auto const& entry) { return entry.second.coefficients.use_count() == 1; });
    std::erase_if(waits, [&](auto const& entry) { return !known.contains(entry.first.first); });
  }
  return find_or_make(known, x.get(), [&x] {
    known_algorithm counted{x, traffic_of(*x), accuracy_of(*x)};
    counted.traffic.passes = passes_of(*x);
    return counted;
  });
}

product_waits const& waits_of(known_algorithm const& x, level_order order) {
  std::lock_guard const lock(mutex);
  auto& [known, waits] = all();
  algorithm const& coefficients = *x.coefficients;
  return find_or_make(waits, {&coefficients, order.number()},
                      [&] { return waits_of(schedule_level(coefficients, order.wishes())); });
}

}  // namespace heptad
