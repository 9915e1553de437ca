// SPDX-License-Identifier: BSD-3-Clause
// Which plans are worth weighing. Every known algorithm may be at every level, so there are far too many lists of
// levels to try: what a block costs depends on its shape alone, so the best ways to do it are found once (dynamic
// programming from the leaves out), and only the best whole lists are weighed exactly.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "src/plan/cost_model.hpp"
#include "src/plan/palette.hpp"

namespace heptad {

struct search_limits {
  int least_levels = 1, most_levels = 8;
  std::int64_t smallest_leaf = 64;                             // sides of leaves
  bool any_kind = false;                                       // task levels even for one worker
  double growth = std::numeric_limits<double>::infinity();     // of the error, by all levels
  bool proved = false;                                         // … in the proved bound instead of the expected error
  double workspace = std::numeric_limits<double>::infinity();  // bytes of buffers
};

/// At most `count` lists of levels in all their variants, strips, slots and orders, by and large the cheapest first.
/// The palette must outlive them. `blocks` may serve several searches.
struct search_result {
  std::vector<outline> outlines;
  std::size_t lists = 0;               // of levels
  std::size_t blocks = 0, prices = 0;  // shapes that were looked at, and products priced
};
class block_search;
search_result search(block_search& blocks, int workers, search_limits const& limits, std::size_t count);
/// The same once.
search_result search(palette const& from, element_type type, problem const& shape, int workers,
                     machine_profile const& machine, search_limits const& limits, std::size_t count);

}  // namespace heptad
