// SPDX-License-Identifier: BSD-3-Clause
// How C is cut for workers that share no packed block: every piece packs its own rows of A and columns of B.
#pragma once

#include <algorithm>
#include <cstdint>

namespace heptad {

/// C in rows × cols pieces of nearly equal size.
struct strip_grid {
  std::int64_t rows = 1, cols = 1;
};

/// `pieces` > 0 of an m×n C of k k-steps. Nearly square ones pack least; of grids that pack almost as little, the one
/// with the fewest cuts across the rows. Workers that share columns of a column-major C disturb each other, probably as
/// each fetches lines ahead beyond its end of a column. Measured on two cores of a Zen 4, classical and with a fused
/// level: halves of rows take 3 to 25 % longer than halves of columns for 512 to 768 rows and columns, up to 10 % for
/// more, and no longer where each has a C of its own; from m = 4 n on they take up to 4 % less, but for few columns.
/// Where few k-steps are done for a column of C it disturbs more: of 16 to 40, with m = 4 n to 6 n, halves of rows take
/// 0 to 13 % longer, of 60 and 100 as long; from m = 10 n on up to 8 % less.
inline strip_grid cut_into_grid(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t pieces) {
  double const almost = k <= 64 ? 1.6 : 1.3;
  auto const packed = [&](std::int64_t rows) {
    return static_cast<double>(pieces / rows) * static_cast<double>(m) +
           static_cast<double>(rows) * static_cast<double>(n);
  };
  double least = packed(1);
  for (std::int64_t rows = 2; rows <= pieces; ++rows)
    if (pieces % rows == 0) least = std::min(least, packed(rows));
  std::int64_t rows = 1;
  while (pieces % rows != 0 || packed(rows) > almost * least) ++rows;
  return {rows, pieces / rows};
}

}  // namespace heptad
