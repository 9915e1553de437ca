// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <vector>

namespace heptad {

/// What a thing takes on a machine of its own, from times of it on a shared one: others only ever add to them, for a
/// moment or for minutes, so the lower quartile counts: of at most four times the least, of five the second. Of at
/// least one value.
inline double undisturbed(std::vector<double> seconds) {
  if (seconds.empty()) throw std::invalid_argument("undisturbed time of nothing");
  auto const quartile = seconds.begin() + static_cast<std::ptrdiff_t>((seconds.size() - 1) / 4);
  std::nth_element(seconds.begin(), quartile, seconds.end());
  return *quartile;
}

}  // namespace heptad
