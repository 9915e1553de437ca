// SPDX-License-Identifier: BSD-3-Clause
// Cutting an extent into pieces of nearly equal size, for strips and tiles.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace heptad {

/// Boundaries 0 = b0 < b1 < … = extent of at most `pieces` pieces: the multiples of `unit` nearest to equal pieces.
/// Needs extent > 0.
inline std::vector<std::int64_t> cut(std::int64_t extent, std::int64_t pieces, std::int64_t unit = 1) {
  std::int64_t const units = std::max<std::int64_t>(1, extent / unit);
  pieces = std::clamp<std::int64_t>(pieces, 1, units);
  std::vector<std::int64_t> boundaries;
  for (std::int64_t i = 0; i < pieces; ++i) {
    std::int64_t const equal = extent / pieces * i + extent % pieces * i / pieces;  // extent * i may overflow
    boundaries.push_back((equal + unit / 2) / unit * unit);
  }
  boundaries.push_back(extent);
  return boundaries;
}

}  // namespace heptad
