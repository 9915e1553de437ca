// SPDX-License-Identifier: BSD-3-Clause
// Simulated annealing over the schemes of one rank with coefficients −1, 0 and 1: flips of terms that share a factor up
// to sign, and changes of basis (row p of A and of C, column of A with row of B, or column of B and of C: what is added
// in one is taken off in the other), both over the integers, so that every scheme on the way is exact.
#pragma once

#include "src/search/flip_walk.hpp"
#include "src/search/keep_going.hpp"
#include "src/search/scheme.hpp"

namespace heptad::search {

enum class aim {
  sparse,  // few coefficients other than zero
  stable,  // a small product of the stability factors of the three rotations
};

/// Lower is better.
double energy(ternary_scheme const& x, aim what);

template <typename Scheme>
struct annealed {
  Scheme scheme;  // the best one met
  double energy = 0;
  std::int64_t moves = 0;  // fewer than were wished for where it might not go on
};

/// One round of so many moves that cools down, from x.
annealed<ternary_scheme> anneal(ternary_scheme x, aim what, std::int64_t moves, generator& random,
                                keep_going const& may_go_on = to_the_end);

/// The same over GF(2), for few ones. There no flip leaves the numbers allowed, so that schemes of many terms become
/// several times as sparse as when they are annealed over the integers alone; signs are sought afterwards.
annealed<binary_scheme> sparsify(binary_scheme x, std::int64_t moves, generator& random,
                                 keep_going const& may_go_on = to_the_end);

}  // namespace heptad::search
