// SPDX-License-Identifier: BSD-3-Clause
// Predicted seconds, workspace and tasks of a plan, by closed formulas: arithmetic at the measured rate of the leaf,
// the traffic of every level's passes at the rate of the memory that holds its blocks, and the idle time of the tasks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <heptad/heptad.hpp>

#include "src/algorithm/algorithm.hpp"
#include "src/plan/profile.hpp"

namespace heptad {

/// What the cost model needs to know of an algorithm, counted once.
struct level_traffic {
  int m = 1, k = 1, n = 1, rank = 1;
  int terms_A = 1, terms_B = 1, terms_C = 1;  // nonzeros of U, V, W: operand reads and updates of a fused level
  int sums_A = 0, sums_B = 0;                 // sums of more than one block, written by the passes of other levels
  int shared = 0;                             // products that feed more than one block of C
  int fed = 0;                                // blocks of C that shared products feed
  int copies = 0;                             // … that need no pass where the product is formed in place
};

level_traffic traffic_of(algorithm const& x);

struct outline_level {
  level_traffic const* traffic = nullptr;
  level_kind kind = level_kind::fused;
};

/// The choices of a plan, without its words. Levels outermost first: task, then explicit, then fused.
struct outline {
  std::vector<outline_level> levels;
  bool product_buffer = false;
  int slots = 1;
  bool independent = false;
  std::int64_t strips = 1;
};

struct estimate {
  std::int64_t core_m = 0, core_n = 0, core_k = 0;
  double seconds = 0;
  double workspace = 0;  // bytes, packing included
  double tasks = 0;
};

/// The part of the problem that the levels divide.
void core_sizes(outline const& o, problem const& shape, estimate& result);

/// Workers ≥ 1, sizes ≥ 0.
estimate predict(element_type type, problem const& shape, int workers, machine_profile const& machine,
                 outline const& o);

}  // namespace heptad
