// SPDX-License-Identifier: BSD-3-Clause
// How long workers take over one task level: a dry run of its products, all of one length, that the planner can afford
// for every plan that it weighs. The dry run of whole graphs is schedulers/simulate.
#pragma once

#include <cstdint>
#include <vector>

#include "src/plan/level_schedule.hpp"

namespace heptad {

/// The products of a level in the order in which workers take them, and which of them wait for which.
struct product_waits {
  struct product {
    int waits_for = 0;           // products; those after the update of C also wait for it
    std::vector<int> followers;  // products that wait for this one
  };
  std::vector<product> products;
  int before_sums = 0;    // the first products, which need no sums
  int before_update = 0;  // the first products, for which the update of C waits
  int chain = 0;          // products that wait for each other, at most

  [[nodiscard]] int after_update() const noexcept { return static_cast<int>(products.size()) - before_update; }
};

product_waits waits_of(level_schedule s);

/// Work and times are measured in tasks: a product is as many of them as it has strips.
struct shared_level {
  int workers = 1;
  std::int64_t strips = 1;
  double sums = 0, update = 0;  // the work of the passes, which all workers without a task share
};

double level_time(product_waits const& waits, shared_level const& level);

}  // namespace heptad
