// SPDX-License-Identifier: BSD-3-Clause
#include "src/plan/search_space.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace heptad {
namespace {

constexpr int most_task_levels = 3, most_explicit_levels = 5, most_fused_levels = 2;

bool divides(std::vector<outline_level> const& levels, problem const& shape, std::int64_t leaf) {
  std::int64_t m = shape.m, n = shape.n, k = shape.k;
  for (outline_level const& l : levels) {
    m /= l.traffic->m;
    n /= l.traffic->n;
    k /= l.traffic->k;
  }
  return std::min({m, n, k}) >= leaf;
}

// Appends the variants, strips, slots and orders of one list of levels.
void vary(outline o, int workers, std::vector<outline>& list) {
  struct order {
    int slots;
    bool independent;
    int strips;
  };
  // A single task level has one node, so one slot; as many strips as workers leave none of these without work.
  std::array<order, 4> const one_level{order{1, false, 1}, {1, true, 1}, {1, false, workers}, {1, true, workers}};
  static constexpr std::array<order, 4> more_levels{order{1, false, 1}, {2, false, 1}, {3, false, 1}, {3, true, 1}};
  static constexpr std::array<order, 4> many_workers{order{3, false, 1}, {3, true, 1}, {3, false, 4}, {3, true, 4}};
  auto const tasks = std::count_if(o.levels.begin(), o.levels.end(),
                                   [](outline_level const& l) { return l.kind == level_kind::task; });
  bool const any_fused = o.levels.back().kind == level_kind::fused;
  // Every strip would make the sums of explicit levels again.
  bool const no_passes =
      std::ranges::none_of(o.levels, [](outline_level const& l) { return l.kind == level_kind::explicit_passes; });
  for (bool const buffer : {true, false}) {
    if (buffer && !any_fused) continue;  // one destination: nothing to gather
    o.product_buffer = buffer;
    if (tasks == 0) {
      o.strips = workers;
      list.push_back(o);
      continue;
    }
    auto const add = [&](auto const& orders) {
      for (order const& how : orders) {
        o.slots = how.slots;
        o.independent = how.independent;
        o.strips = how.strips;
        if (o.strips == 1 || no_passes) list.push_back(o);
      }
    };
    if (tasks == 1) add(one_level);
    else if (workers <= 8) add(more_levels);
    else add(many_workers);
  }
}

}  // namespace

palette::palette(std::string const& name) {
  if (name != "auto") {
    auto const x = find_algorithm(name);
    if (x->rank() == 1) return;
    outer_ = learn(x);
    fused_ = {outer_};
    return;
  }
  outer_ = learn(find_algorithm("winograd"));
  fused_ = {learn(find_algorithm("strassen"))};
  for (char const* rectangular : {"huang323", "huang233", "huang332"})
    fused_.push_back(learn(find_algorithm(rectangular)));
}

known_algorithm const* palette::learn(std::shared_ptr<algorithm const> const& x) {
  for (auto const& k : known_)
    if (k->coefficients == x) return k.get();
  known_.push_back(std::make_unique<known_algorithm>(known_algorithm{x, traffic_of(*x), accuracy_of(*x)}));
  return known_.back().get();
}

known_algorithm const& palette::of(outline_level const& l) const {
  return **std::find_if(known_.begin(), known_.end(), [&](auto const& k) { return &k->traffic == l.traffic; });
}

std::vector<outline> outlines(palette const& from, problem const& shape, int workers, int levels,
                              std::int64_t smallest_leaf, bool any_kind) {
  std::vector<outline> list;
  if (from.empty() || levels < 1) return list;
  int const most_tasks = workers > 1 || any_kind ? most_task_levels : 0;
  for (int tasks = 0; tasks <= std::min(levels, most_tasks); ++tasks)
    for (int fused = 0; fused <= std::min(levels - tasks, most_fused_levels); ++fused) {
      int const passes = levels - tasks - fused;
      if (passes > most_explicit_levels && !any_kind) continue;
      // A rectangular algorithm is the innermost level, below Strassen when there are two.
      for (known_algorithm const* innermost : from.fused()) {
        if (fused == 0 && innermost != from.fused().front()) continue;
        outline o;
        o.levels.insert(o.levels.end(), tasks, {&from.outer().traffic, level_kind::task});
        o.levels.insert(o.levels.end(), passes, {&from.outer().traffic, level_kind::explicit_passes});
        if (fused > 1) o.levels.push_back({&from.fused().front()->traffic, level_kind::fused});
        if (fused > 0) o.levels.push_back({&innermost->traffic, level_kind::fused});
        if (divides(o.levels, shape, smallest_leaf)) vary(std::move(o), workers, list);
      }
    }
  return list;
}

}  // namespace heptad
