// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <vector>

namespace heptad {

/// Of at least one value; the mean of the middle two of an even number.
template <typename Number>
Number median(std::vector<Number> values) {
  if (values.empty()) throw std::invalid_argument("median of nothing");
  auto const middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return values.size() % 2 == 1 ? *middle : (*std::max_element(values.begin(), middle) + *middle) / 2;
}

}  // namespace heptad
