// SPDX-License-Identifier: BSD-3-Clause
// How C is cut for workers that share no packed block: every piece packs its own rows of A and columns of B.
#pragma once

#include <algorithm>
#include <cstdint>

#include <heptad/heptad.hpp>

#include "src/plan/profile.hpp"

namespace heptad {

/// C in rows × cols pieces of nearly equal size.
struct strip_grid {
  std::int64_t rows = 1, cols = 1;
};

/// Rows of a leaf whose packed A takes half of the second-level cache: fewer stay there while B passes by. Measured on
/// two workers, classical and with a fused level: below that, cutting columns is as good or up to 25 % better (fewer
/// rows fill fewer register tiles); from there on cutting rows is as good or 2 % better.
inline std::int64_t resident_rows(element_type type, machine_profile const& machine) {
  constexpr std::int64_t block_k = 256;
  return static_cast<std::int64_t>(machine.l2_bytes) / (2 * block_k * (type == element_type::f64 ? 8 : 4));
}

/// At most `pieces` > 0 of an m×n C. Nearly square ones pack least. Of grids that pack almost as little, the one with
/// the fewest cuts across the rows that leaves a piece fewer than `resident` rows; where none does, the one with the
/// most.
inline strip_grid cut_into_grid(std::int64_t m, std::int64_t n, std::int64_t pieces, std::int64_t resident) {
  constexpr double almost = 1.1;
  auto const packed = [&](strip_grid g) {
    return static_cast<double>(g.cols) * static_cast<double>(m) + static_cast<double>(g.rows) * static_cast<double>(n);
  };
  strip_grid least{1, pieces};
  for (std::int64_t rows = 2; rows <= pieces; ++rows)
    if (strip_grid const g{rows, pieces / rows}; pieces % rows == 0 && packed(g) < packed(least)) least = g;
  strip_grid best = least;
  bool fits = false;
  for (std::int64_t rows = 1; rows <= pieces && !fits; ++rows) {
    strip_grid const g{rows, pieces / rows};
    if (pieces % rows != 0 || packed(g) > almost * packed(least)) continue;
    best = g;
    fits = (m + rows - 1) / rows < resident;
  }
  return best;
}

}  // namespace heptad
