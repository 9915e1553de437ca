// SPDX-License-Identifier: BSD-3-Clause
// What one level costs in accuracy, counted once per algorithm so that the planner can weigh many plans.
#pragma once

#include <span>

#include "src/algorithm/algorithm.hpp"

namespace heptad {

struct level_accuracy {
  int k = 1;
  double amplification = 1;  // e: of the error of the products
  double rounding = 0;       // g: of the sums, times the inner dimension of the products
  double growth = 1;         // expected, measured
};

level_accuracy accuracy_of(algorithm const& x);

/// f for levels (outermost first) that divide core_k of the inner dimension k.
double error_bound(std::span<level_accuracy const* const> levels, double k, double core_k);
double expected_growth(std::span<level_accuracy const* const> levels);

}  // namespace heptad
