// SPDX-License-Identifier: BSD-3-Clause
// The algorithms that the levels of a plan may use, by shape: the search looks at shapes first, since what a level
// costs depends on its shape more than on its coefficients.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "src/plan/known_algorithms.hpp"
#include "src/process/lasting.hpp"

namespace heptad {

/// The known algorithms of one shape. Their coefficients are read, and counted, when a block is met for which the shape
/// may pay; of those, the ones that another one beats in every respect are left out. Thread-safe.
class shape_group {
public:
  /// named: by the user, so that all are used, whatever the model makes of them.
  shape_group(int m, int k, int n, int rank, std::vector<std::string> names, bool named)
      : blocks_{.m = m, .k = k, .n = n, .rank = rank}, names_(std::move(names)), named_(named) {}

  /// Only its sides and the least number of products are set.
  [[nodiscard]] level_counts const& blocks() const noexcept { return blocks_; }

  [[nodiscard]] std::vector<known_algorithm const*> const& passes() const { return load(), passes_; }
  [[nodiscard]] std::vector<known_algorithm const*> const& fused() const { return load(), fused_; }

private:
  void load() const;

  level_counts blocks_;
  std::vector<std::string> names_;
  bool named_;
  mutable once loaded_;
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

}  // namespace heptad
