// SPDX-License-Identifier: BSD-3-Clause
// Linear equations over GF(2), as rows of bits.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "src/search/keep_going.hpp"

namespace heptad::search {

class linear_system {
public:
  explicit linear_system(int unknowns) : unknowns_(unknowns), words_(unknowns / 64 + 1) {}

  /// A new equation, all zero.
  void add_equation() { rows_.emplace_back(words_, 0); }
  /// Of the newest equation.
  void flip_unknown(int i) { rows_.back()[i / 64] ^= std::uint64_t{1} << (i % 64); }
  void flip_right_side() { flip_unknown(unknowns_); }

  /// A solution, with unknowns that are free at zero; earlier unknowns are preferred as the ones that are not free.
  /// The system is used up. Nothing, too, where it may not go on.
  [[nodiscard]] std::optional<std::vector<bool>> solve(keep_going const& may_go_on = to_the_end);

private:
  int unknowns_, words_;
  std::vector<std::vector<std::uint64_t>> rows_;  // bit `unknowns_` is the right side
};

}  // namespace heptad::search
