// SPDX-License-Identifier: BSD-3-Clause
// Alternating least squares over the reals, for what the flip graph does not reach (Smirnov 2013, "The bilinear
// complexity and practical algorithms for matrix multiplication"). With two of U, V, W held, the Brent equations are
// linear in the third; a regularisation that fades keeps the numbers small. A solution is made exact by holding
// entries, those nearest to a value of a small set of fractions first, and solving for the rest again, until all are
// held.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "src/algorithm/algorithm.hpp"
#include "src/search/flip_walk.hpp"
#include "src/search/scheme.hpp"

namespace heptad::search {

struct alternating_report {
  std::optional<algorithm> exact;  // verified
  double residual = 0;             // Σ of the squares of the Brent equations' errors, where it ended
  std::int64_t sweeps = 0;
};

/// One random start. Ends early when `over`, told the sweeps so far, says so.
alternating_report alternate(shape const& what, int rank, generator& random,
                             std::function<bool(std::int64_t)> const& over);

}  // namespace heptad::search
