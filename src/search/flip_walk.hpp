// SPDX-License-Identifier: BSD-3-Clause
// A random walk on the flip graph over GF(2) (Kauers and Moosbauer 2022, "Flip graphs for matrix multiplication"). Two
// terms that share a factor are flipped: u⊗v⊗w + u⊗v'⊗w' = u⊗(v+v')⊗w + u⊗v'⊗(w+w'). Terms that come to share two
// factors merge, and the rank falls. From plateaus a plus transition leads away (Arai, Ichikawa and Hukushima 2024):
// any two terms are written as three.
#pragma once

#include <array>
#include <cstdint>
#include <random>

#include "src/search/keep_going.hpp"
#include "src/search/scheme.hpp"

namespace heptad::search {

using generator = std::mt19937_64;  // the same numbers on every platform

class flip_walk {
public:
  flip_walk(binary_scheme start, generator& random) : random_(random) { restart(std::move(start)); }

  [[nodiscard]] binary_scheme const& scheme() const noexcept { return scheme_; }
  [[nodiscard]] int rank() const noexcept { return scheme_.rank(); }
  void restart(binary_scheme from);

  /// Flips a random pair of terms and merges what can be merged; false when no two terms share a factor.
  bool flip();
  /// One term more; false when every pair of terms shares a factor.
  bool plus();

private:
  struct pair {
    int factor, i, j;  // terms i and j share this factor
  };
  void find_pairs();
  bool change(int factor, int term, bits from);
  void clean();
  void remove(int term);

  [[nodiscard]] std::uint16_t& terms_like(int factor, bits value);

  binary_scheme scheme_;
  std::vector<pair> pairs_;  // all of them
  // How many terms have a factor with this hash. Most factors are alone with theirs: then there is nothing to look for.
  static constexpr int hash_bits = 10;
  std::array<std::array<std::uint16_t, 1 << hash_bits>, 3> hashes_;
  generator& random_;
};

/// A walk with one aim: fewer terms. Takes a plus transition whenever `patience` flips have brought nothing, and goes
/// back to the best scheme when it is `margin` terms above it. Of schemes of one rank the last one is the best, so that
/// the walk gets about.
class descent {
public:
  descent(binary_scheme const& start, generator& random) : walk_(start, random), best_(start) {}

  void restart(binary_scheme const& from);

  /// Walks until the rank of best() falls, so many flips are done, or it may not go on; true when the rank fell.
  bool run(std::int64_t flips, keep_going const& may_go_on = to_the_end);

  [[nodiscard]] binary_scheme const& best() const noexcept { return best_; }
  [[nodiscard]] std::int64_t flips() const noexcept { return flips_; }

private:
  static constexpr std::int64_t patience = 50'000;  // flips
  static constexpr int margin = 2;                  // terms

  flip_walk walk_;
  binary_scheme best_;
  std::int64_t flips_ = 0, last_change_ = 0;
  bool above_ = false;  // the rank of the walk is above that of best_
};

}  // namespace heptad::search
