// SPDX-License-Identifier: BSD-3-Clause
// Which plans are worth weighing. Every known algorithm may be at every level, so there are far too many lists of
// levels to try: what a block costs depends on its shape alone, so the best ways to do it are found once (dynamic
// programming from the leaves out), and only the best whole lists are weighed exactly.
#pragma once

#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "src/plan/cost_model.hpp"

namespace heptad {

/// The known algorithms of one shape. Their coefficients are read, and counted, when a block is met for which the shape
/// may pay; of those, the ones that another one beats in every respect are left out. Thread-safe.
class shape_group {
public:
  shape_group(int m, int k, int n, int rank, std::vector<std::string> names)
      : blocks_{.m = m, .k = k, .n = n, .rank = rank, .passes = {}}, names_(std::move(names)) {}

  /// Only its sides and the least number of products are set.
  [[nodiscard]] level_traffic const& blocks() const noexcept { return blocks_; }
  [[nodiscard]] bool halves() const noexcept { return blocks_.m == 2 && blocks_.k == 2 && blocks_.n == 2; }

  [[nodiscard]] std::vector<known_algorithm const*> const& passes() const { return load(), passes_; }
  [[nodiscard]] std::vector<known_algorithm const*> const& fused() const { return load(), fused_; }

private:
  void load() const;

  level_traffic blocks_;
  std::vector<std::string> names_;
  mutable std::once_flag loaded_;
  mutable std::vector<known_algorithm const*> passes_, fused_;
};

/// The algorithms that levels may use.
struct palette {
  /// name: of the one algorithm for all levels, "auto" for all that are known, "classical" for none.
  /// only_halves: of "auto" those that halve every dimension, which divide any size most often.
  explicit palette(std::string const& name, bool only_halves = false);
  explicit palette(std::vector<std::string> const& names);

  std::vector<std::shared_ptr<shape_group const>> shapes;
};

struct search_limits {
  int least_levels = 1, most_levels = 8;
  std::int64_t smallest_leaf = 64;                             // sides of leaves
  bool any_kind = false;                                       // task levels even for one worker
  double growth = std::numeric_limits<double>::infinity();     // of the error, by all levels
  bool proved = false;                                         // … in the proved bound instead of the expected error
  double workspace = std::numeric_limits<double>::infinity();  // bytes of buffers
};

/// At most `count` lists of levels in all their variants, strips, slots and orders, by and large the cheapest first.
/// The palette must outlive them.
struct search_result {
  std::vector<outline> outlines;
  std::size_t lists = 0;               // of levels
  std::size_t blocks = 0, prices = 0;  // shapes that were looked at, and products priced
};
search_result search(palette const& from, element_type type, problem const& shape, int workers,
                     machine_profile const& machine, search_limits const& limits, std::size_t count);

}  // namespace heptad
