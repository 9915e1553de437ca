// SPDX-License-Identifier: BSD-3-Clause
// Algorithms with what the models count of them. Counting takes longer than planning, so it is done once a process.
#pragma once

#include <memory>

#include "src/plan/accuracy.hpp"
#include "src/plan/level_time.hpp"
#include "src/plan/level_traffic.hpp"

namespace heptad {

struct known_algorithm {
  std::shared_ptr<algorithm const> coefficients;
  level_traffic traffic;
  algorithm_accuracy accuracy;
};

/// Counted at the first use and remembered for as long as somebody else holds the algorithm. Thread-safe.
known_algorithm const& know(std::shared_ptr<algorithm const> const& x);

/// Of a task level of it in this order, for plans of several workers: counted when first asked for, and remembered as
/// long as the algorithm. Thread-safe.
product_waits const& waits_of(known_algorithm const& x, level_order order);

}  // namespace heptad
