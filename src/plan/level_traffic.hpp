// SPDX-License-Identifier: BSD-3-Clause
// What one level of an algorithm moves and holds, in blocks, counted from the very schedule that is run. Counted once
// per algorithm, so that the planner can weigh many plans.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "src/plan/level_schedule.hpp"

namespace heptad {

/// Blocks of an operand that a pass reads, and how many of them are in its last row, in its last column and in both.
struct blocks_read {
  int all = 0, last_row = 0, last_col = 0, corner = 0;
};

/// A task or explicit level whose node updates its C in one way. Counts are of blocks.
struct level_passes {
  blocks_read of_A, of_B;                    // by the passes over A and B
  int sums_A = 0, sums_B = 0;                // … sums written; none: there is no such pass
  int read_C = 0;                            // of the pass that updates C: products read
  int overwritten_C = 0, accumulated_C = 0;  // … blocks of C written, and those that are read too
  int touched_C = 0;                         // … distinct blocks
  int temporaries = 0;                       // buffers for products
  int overwriting = 0, accumulating = 0;     // products, by how they update what they are formed in
};

/// The order of a level: see schedule_options.
struct level_order {
  bool overwrite = false;  // C is only written; otherwise it is added to
  bool independent = false;
  bool reuse_A = false, reuse_B = false;

  [[nodiscard]] std::size_t number() const noexcept { return 8 * overwrite + 4 * independent + 2 * reuse_A + reuse_B; }
  // Scaled and accumulating nodes run in the same order.
  [[nodiscard]] schedule_options wishes() const noexcept {
    return {overwrite ? update::overwrite : update::accumulate, independent, reuse_A, reuse_B};
  }
};

/// Of a level, or of several fused ones.
struct level_counts {
  int m = 1, k = 1, n = 1, rank = 1;
  int terms_A = 1, terms_B = 1, terms_C = 1;     // nonzeros of U, V, W
  int widest_A = 1, widest_B = 1, widest_C = 1;  // most of them in a column

  [[nodiscard]] bool halves() const noexcept { return m == 2 && k == 2 && n == 2; }
  /// Blocks that one product sums or updates, at most.
  [[nodiscard]] int widest() const noexcept { return std::max({widest_A, widest_B, widest_C}); }
};

struct level_traffic : level_counts {
  int sums_A = 0, sums_B = 0;  // products whose sum has more than one block
  int shared = 0;              // products that feed more than one block of C
  int fed = 0, copies = 0;     // blocks of C that shared products feed, and those that only one feeds
  std::array<level_passes, 16> passes;

  [[nodiscard]] level_passes const& in(level_order o) const noexcept { return passes[o.number()]; }
};

/// All but the passes.
level_traffic traffic_of(algorithm const& x);

/// The passes of every order, from its schedule: takes longer.
std::array<level_passes, 16> passes_of(algorithm const& x);

/// Two fused levels as one: the coefficients of the Kronecker product multiply.
level_counts fused_over(level_counts const& outer, level_counts const& inner);

}  // namespace heptad
