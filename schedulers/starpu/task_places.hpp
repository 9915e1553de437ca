// SPDX-License-Identifier: BSD-3-Clause
// A task as StarPU will run it: its blocks renumbered to the places that it touches, each with what it does there.
#pragma once

#include <cstdint>
#include <vector>

#include "tasks/graph.hpp"

namespace heptad::starpu {

struct touched_block {
  block where;  // in the graph's spaces
  bool reads = false, writes = false;
  bool accumulates = false;  // and nothing else: commutes with others that do
};

struct placed_task {
  task local;  // space i of its blocks is touched[i], from row 0 and column 0 on
  std::vector<touched_block> touched;
};

/// beta_zero: scaling by beta writes without reading.
placed_task place_task(task const& t, graph const& g, bool beta_zero);

/// What the time of a task depends on, for performance models: the kind of codelet, the element type, the shapes and
/// the levels inside.
std::uint32_t footprint_of(task const& t, graph const& g);

}  // namespace heptad::starpu
