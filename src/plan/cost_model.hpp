// SPDX-License-Identifier: BSD-3-Clause
// Predicted seconds, workspace and tasks of a plan by closed formulas. On one worker they are the sum of the costs of
// the graph's tasks, exactly; on several, that work shared, with the idle time of the tasks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <heptad/heptad.hpp>

#include "src/plan/known_algorithms.hpp"
#include "src/plan/prices.hpp"
#include "src/plan/profile.hpp"

namespace heptad {

struct outline_level {
  known_algorithm const* algorithm = nullptr;
  level_kind kind = level_kind::fused;

  [[nodiscard]] level_traffic const& traffic() const noexcept { return algorithm->traffic; }
  friend bool operator==(outline_level const&, outline_level const&) = default;
};

/// The choices of a plan, without its words. Levels outermost first: task, then explicit, then fused.
struct outline {
  std::vector<outline_level> levels;
  bool product_buffer = false;
  int slots = 1;
  bool independent = false;
  std::int64_t strips = 1;
  padding pads{};

  friend bool operator==(outline const&, outline const&) = default;
};

/// Whether products may be formed in C: it is only written, and no block of it ends early.
constexpr bool forms_in_C(problem const& shape, padding const& pads) noexcept {
  return shape.beta_zero && !pads.m && !pads.n;
}

struct estimate {
  std::int64_t core_m = 0, core_n = 0, core_k = 0;
  double seconds = 0;
  double buffers = 0;  // bytes of sums and temporaries, shared and of every worker: exact
  double packing = 0;  // bytes of all workers' packing: at most
  double tasks = 0;

  [[nodiscard]] double workspace() const noexcept { return buffers + packing; }
};

/// The part of the problem that the levels divide; filled up along the sides that it pads.
void core_sizes(outline const& o, problem const& shape, estimate& result);

/// Where the innermost passes around the products, those of a node that adds to its C, leave their operands.
distance operands_of(element_type type, problem const& shape, int workers, machine_profile const& machine,
                     outline const& o);

/// Prices of the passes of one list of levels, for its variants to share: a plan weighs hundreds of them.
struct priced_passes {
  struct node {
    double seconds = -1;                        // negative: not yet known
    double shared_sums = 0, shared_update = 0;  // seconds of all workers, of the outermost level
    double bytes = 0, moved = 0;                // moved: from and to memory
  };
  std::vector<outline_level> levels;
  std::int64_t strips = 0;  // that cut the blocks of explicit levels
  padding pads;
  std::vector<std::array<node, 4>> nodes;  // by level; those that overwrite or add, in either order
};

/// Workers ≥ 1, sizes ≥ 0. `passes` are those of the last call for the same product, workers and machine.
estimate predict(element_type type, problem const& shape, int workers, machine_profile const& machine, outline const& o,
                 priced_passes& passes);
estimate predict(element_type type, problem const& shape, int workers, machine_profile const& machine,
                 outline const& o);

}  // namespace heptad
