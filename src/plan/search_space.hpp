// SPDX-License-Identifier: BSD-3-Clause
// Which plans the planner looks at: the algorithms that each kind of level may use, and the lists of levels with their
// variants, strips, slots and orders. Small enough to weigh them all.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "src/plan/accuracy.hpp"
#include "src/plan/cost_model.hpp"

namespace heptad {

/// An algorithm with what the models count of it.
struct known_algorithm {
  std::shared_ptr<algorithm const> coefficients;
  level_traffic traffic;
  algorithm_accuracy accuracy;
};

/// Winograd for task and explicit levels, where shared sums make it the cheapest; Strassen, whose U, V, W have the
/// fewest terms, and one algorithm of each order of 3, 2, 3 for fused levels. A name other than "auto" (which must be
/// known) serves all levels; "classical" none.
class palette {
public:
  explicit palette(std::string const& name);

  [[nodiscard]] bool empty() const noexcept { return outer_ == nullptr; }
  [[nodiscard]] known_algorithm const& outer() const { return *outer_; }
  /// The first one may be used above another fused level.
  [[nodiscard]] std::vector<known_algorithm const*> const& fused() const noexcept { return fused_; }
  [[nodiscard]] known_algorithm const& of(outline_level const& l) const;

private:
  known_algorithm const* learn(std::shared_ptr<algorithm const> const& x);

  std::vector<std::unique_ptr<known_algorithm>> known_;  // outlines point to their traffic
  known_algorithm const* outer_ = nullptr;
  std::vector<known_algorithm const*> fused_;
};

/// The plans of exactly `levels` levels whose leaves have no side below `smallest_leaf`. Task levels only with several
/// workers or where `any_kind`. The palette must outlive them.
std::vector<outline> outlines(palette const& from, problem const& shape, int workers, int levels,
                              std::int64_t smallest_leaf, bool any_kind);

}  // namespace heptad
