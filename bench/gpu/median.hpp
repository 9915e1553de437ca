// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <vector>

namespace heptad::bench {

/// The upper one of two.
template <typename Number>
Number median(std::vector<Number> x) {
  auto const middle = x.begin() + static_cast<std::ptrdiff_t>(x.size() / 2);
  std::nth_element(x.begin(), middle, x.end());
  return *middle;
}

}  // namespace heptad::bench
