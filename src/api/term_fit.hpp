// SPDX-License-Identifier: BSD-3-Clause
// What each further block in the sums and updates of a product costs, from measured products that have several of them.
#pragma once

#include <array>
#include <span>

namespace heptad {

/// Of A, of B, of C gathered in a buffer first (AB), of C straight (ABC).
using per_term = std::array<double, 4>;

struct term_sample {
  per_term further;  ///< blocks beyond one
  double seconds;    ///< beyond the product of single blocks
};

/// Seconds of one further block of each kind, s ≥ least ≥ 0, that minimise Σ (further · s − seconds)² over the samples:
/// products are measured with the mixtures that occur, and a disturbed one is outvoted. A kind that no sample has costs
/// the least.
per_term fit_terms(std::span<term_sample const> samples, per_term const& least = {});

}  // namespace heptad
