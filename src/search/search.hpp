// SPDX-License-Identifier: BSD-3-Clause
// Finds algorithms ⟨m,k,n;R⟩: walks on the flip graph over GF(2) until the rank is low enough, lifts what was found to
// the numbers, and anneals it there for the objective. Everything that leaves here has been verified exactly.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "src/algorithm/algorithm.hpp"
#include "src/search/scheme.hpp"

namespace heptad::search {

enum class objective { rank, additions, stability, predicted_time };

enum class method {
  flips,          // flip graph over GF(2), lifted
  sparse_flips,   // the same, but annealed over GF(2) for few nonzeros before signs are sought: for many terms
  least_squares,  // over the reals, made exact; needs a rank; finds coefficients such as 1/2, too
};

struct settings {
  shape what;
  std::optional<int> rank;  // to reach; absent: as low as half of the time allows
  objective aim = objective::rank;
  method by = method::flips;
  std::uint64_t seed = 1;
  double seconds = 60;          // of wall clock, at most; least squares end a factorization that is begun
  int symmetry = 1;             // of what least squares look for: its order (least_squares.hpp)
  std::int64_t most_moves = 0;  // flips, annealing moves or steps of each thread, at most; 0: no limit
  int threads = 1;
  /// Of a product with this algorithm; lower is better. For objective::predicted_time, called under a lock.
  std::function<double(algorithm const&)> predicted_seconds;
};

/// What a search knows, so that a later one can go on from it.
struct knowledge {
  binary_scheme lowest;           // over GF(2), of the lowest rank that was reached
  std::optional<algorithm> best;  // the best one over the numbers, by rank, then by the objective
  std::int64_t moves = 0, walks = 0;
  std::int64_t inexact = 0;  // solutions over the reals that least squares could not make exact
  int runs = 0;              // searches that this comes from
};

struct progress {
  double seconds = 0;          // of this search
  knowledge const& so_far;     // for the time of the call
  std::int64_t moves_now = 0;  // of this search
};

/// Throws heptad::error where a setting is out of range.
void check(settings const& how);

/// Throws as check(), and what a thread or `watch` throws. One thread with a limit on moves and enough seconds always
/// finds the same; several threads hand each other what they find, in the order of the clock. Tells `watch` every
/// second. `from` is what a search of the same shape knew.
knowledge run(settings const& how, std::function<void(progress const&)> const& watch,
              std::optional<knowledge> from = std::nullopt);

/// What an algorithm gives to start from. Throws heptad::error where it has a coefficient with an even denominator,
/// which GF(2) does not know.
knowledge knowledge_of(algorithm const& x);

/// The objective's value: additions with shared sums, the product of the stability factors of the three rotations,
/// predicted seconds; coefficients other than zero where the rank is all that counts.
double value_of(algorithm const& x, settings const& how);

/// As JSON, for a file. from_text throws heptad::error where the text is not that of a search of this shape, or wrong.
std::string to_text(knowledge const& known);
knowledge from_text(std::string const& text, shape const& what);

}  // namespace heptad::search
