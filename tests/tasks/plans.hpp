// SPDX-License-Identifier: BSD-3-Clause
// Plans for the tests, made by hand: the planner has no part in them.
#pragma once

#include <random>
#include <string>
#include <vector>

#include <heptad/heptad.hpp>

#include "src/algorithm/algorithm.hpp"

namespace heptad::test {

struct level_choice {
  std::string algorithm;
  level_kind kind;
};

/// The classical ⟨1,2,2;4⟩ in another basis: C_j = a1 (b1j − b2j) + (a1 + a2) b2j. Two products share each sum of A,
/// and every product is added to one block of C.
algorithm sheared();

/// The levels on a problem m×n×k, the core as large as they allow.
plan make_plan(std::vector<level_choice> const& levels, std::int64_t m, std::int64_t n, std::int64_t k, bool beta_zero);

/// "TTEF" with one algorithm at every level.
plan make_plan(std::string const& kinds, std::string const& algorithm, std::int64_t m, std::int64_t n, std::int64_t k,
               bool beta_zero);

/// Up to three levels of any algorithm and kind, odd sizes, slots, order, layouts and workers; sides cut or padded.
plan random_plan(std::mt19937& random);

/// The same plan with fringes instead of zeros, as cells need it.
plan without_zeros(plan p);

std::string describe(plan const& p);

}  // namespace heptad::test
