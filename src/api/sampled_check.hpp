// SPDX-License-Identifier: BSD-3-Clause
// A check of the result at the price of a few passes over the operands: C x is compared with alpha A (B x) + beta C x
// for random vectors x of ±1 (Freivalds 1977). The old C is needed for the latter, so it is asked before the product.
#pragma once

#include <cstdint>
#include <vector>

#include <heptad/heptad.hpp>

#include "src/api/arguments.hpp"

namespace heptad {

template <typename T>
class sampled_check {
public:
  /// Before the product. The vectors are the same in every call, so that a result can be checked again.
  sampled_check(operands<T> const& x, int vectors);

  /// After it, by the plan that ran.
  [[nodiscard]] sampled_error judge(plan const& how) noexcept;

private:
  operands<T> const x_;
  int const vectors_;
  std::vector<double> signs_;     // n × vectors
  std::vector<double> expected_;  // m × vectors
  std::vector<double> found_;     // the same of the result
  double largest_A_ = 0, largest_B_ = 0, largest_C_ = 0;
};

}  // namespace heptad
