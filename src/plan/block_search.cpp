// SPDX-License-Identifier: BSD-3-Clause
#include "src/plan/block_search.hpp"

#include <algorithm>

#include "src/matrix/limits.hpp"

namespace heptad {
namespace {

constexpr int most_explicit_levels = 5, most_fused_levels = 2;
// Ways that are kept of every block and number of levels: cheap and accurate, or small, in different degrees.
constexpr std::size_t ways_kept = 4;

/// Cheapest first; drops what another way beats in time, accuracy and workspace.
void keep(std::vector<way>& list, way const& w) {
  auto const beats = [](way const& a, way const& b) {
    return a.seconds() <= b.seconds() && a.growth <= b.growth && a.held <= b.held;
  };
  if (std::ranges::any_of(list, [&](way const& other) { return beats(other, w); })) return;
  std::erase_if(list, [&](way const& other) { return beats(w, other); });
  auto const at = std::ranges::upper_bound(list, w.seconds(), {}, &way::seconds);
  list.insert(at, w);
  if (list.size() > ways_kept) list.pop_back();
}

}  // namespace

block_search::block& block_search::at(divisors d, bool mixed) {
  auto const [found, fresh] = known_.try_emplace(key{d, mixed});
  if (fresh) found->second = {d, mixed, std::vector<std::optional<std::vector<way>>>(limits_.most_levels + 1)};
  return found->second;
}

std::vector<way> const& block_search::ways(block& x, int levels) {
  auto& known = x.ways[static_cast<std::size_t>(levels)];
  if (known) return *known;
  std::vector<way> list;
  extent const size = size_of(x);
  if (levels == 0) {
    way leaf;
    leaf.overwrite = leaf.accumulate = price(size, level_traffic{});
    list.push_back(leaf);
  } else {
    double const classical = seconds_of_leaf(x);
    for (auto const& shape : from_.shapes) {
      if (!may_follow(*shape, x.mixed) || !fits(size, shape->blocks())) continue;
      if (levels == 1 && may_pay(size, shape->blocks(), classical))
        for (known_algorithm const* a : shape->fused()) add_fused(list, size, *a, nullptr);
      if (levels == 2 && (shape->blocks().halves() || from_.shapes.size() == 1))
        add_two_fused(list, size, *shape, x.mixed, classical);
      bool const room = limits_.workspace > 0;  // for sums
      if (room && (limits_.any_kind || levels <= most_explicit_levels + most_fused_levels))
        add_explicit(list, x, *shape, levels, classical);
    }
  }
  return known.emplace(std::move(list));
}

bool block_search::fits(extent const& block, level_traffic const& t) const {
  extent const inner = block.over(t);
  return std::min({inner.m, inner.n, inner.k}) >= double(limits_.smallest_leaf);
}

block_search::block& block_search::inside(block const& x, level_traffic const& t) {
  return at({static_cast<std::uint32_t>(x.d[0] * t.m), static_cast<std::uint32_t>(x.d[1] * t.n),
             static_cast<std::uint32_t>(x.d[2] * t.k)},
            x.mixed || !t.halves());
}

double block_search::growth(known_algorithm const& x) const noexcept {
  // What a level adds to the proved bound beyond this factor shows when the whole list is weighed.
  double const k = x.traffic.k;
  return limits_.proved ? x.accuracy.amplification / (k * k) : x.accuracy.growth;
}

void block_search::unfold(way const& w, int levels, std::vector<outline_level>& into) {
  if (w.outer == nullptr) return;
  level_kind const kind = w.fused ? level_kind::fused : level_kind::explicit_passes;
  into.push_back({w.outer, kind});
  if (w.second != nullptr) into.push_back({w.second, kind});
  if (w.inner >= 0)
    unfold(ways(at(w.inner_block, w.inner_mixed), levels - 1)[static_cast<std::size_t>(w.inner)], levels - 1, into);
}

std::size_t block_search::hash::operator()(key const& x) const noexcept {
  std::uint64_t h = x.mixed;
  for (std::uint32_t const part : x.d) h = (h ^ part) * 0x9e3779b97f4a7c15U;
  return h ^ h >> 32;
}

double block_search::price(extent const& block, level_traffic const& fused) {
  ++priced_;
  double const straight = leaf_seconds(price_, block, fused, false);
  return fused.rank == 1 ? straight : std::min(straight, leaf_seconds(price_, block, fused, true));
}

void block_search::add_fused(std::vector<way>& list, extent const& block, known_algorithm const& x,
                             known_algorithm const* second) {
  if (second == nullptr ? !fits(block, x.traffic) : !fits(block.over(x.traffic), second->traffic)) return;
  way w;
  w.outer = &x, w.second = second, w.fused = true;
  w.growth = growth(x) * (second == nullptr ? 1 : growth(*second));
  if (w.growth > limits_.growth) return;
  level_traffic const both = second == nullptr ? level_traffic{} : fused_over(x.traffic, second->traffic);
  level_traffic const& all = second == nullptr ? x.traffic : both;
  if (std::max({all.widest_A, all.widest_B, all.widest_C}) > most_terms) return;
  w.overwrite = w.accumulate = price(block, all);
  keep(list, w);
}

bool block_search::may_pay(extent const& block, level_traffic const& t, double classical) {
  if (limits_.any_kind) return true;
  extent const inner = block.over(t);
  ++priced_;
  return 2 * t.rank * price_.product(inner.m, inner.n, inner.k) < classical;
}

void block_search::add_two_fused(std::vector<way>& list, extent const& block, shape_group const& outer, bool mixed,
                                 double classical) {
  extent const half = block.over(outer.blocks());
  for (auto const& shape : from_.shapes) {
    if (!may_follow(*shape, mixed) || !fits(half, shape->blocks())) continue;
    level_traffic const both = fused_over(outer.blocks(), shape->blocks());
    if (!may_pay(block, both, classical)) continue;
    for (known_algorithm const* x : outer.fused())
      for (known_algorithm const* y : shape->fused()) add_fused(list, block, *x, y);
  }
}

void block_search::add_explicit(std::vector<way>& list, block const& outer, shape_group const& shape, int levels,
                                double classical) {
  block& next = inside(outer, shape.blocks());
  std::vector<way> const& below = ways(next, levels - 1);
  if (below.empty()) return;
  if (!limits_.any_kind && shape.blocks().rank * below.front().seconds() > hopeless * classical) return;
  for (known_algorithm const* x : shape.passes()) add_explicit(list, next, below, *x, classical);
}

void block_search::add_explicit(std::vector<way>& list, block const& next, std::vector<way> const& below,
                                known_algorithm const& x, double classical) {
  if (growth(x) > limits_.growth) return;
  extent const inner = size_of(next);
  level_passes const& over = passes(x.traffic, inner, true, false);
  level_passes const& onto = passes(x.traffic, inner, false, false);
  double const bytes = price_.element_bytes();
  double const sums = bytes * (over.sums_A * inner.m * inner.k + over.sums_B * inner.k * inner.n);
  double const held = sums + bytes * onto.temporaries * inner.m * inner.n;
  if (held > limits_.workspace) return;
  double const overwriting = pass_prices(over, inner, bytes).seconds(price_);
  double const adding = pass_prices(onto, inner, bytes).seconds(price_);
  for (std::size_t i = 0; i < below.size(); ++i) {
    way w;
    w.outer = &x;
    w.inner_block = next.d, w.inner_mixed = next.mixed, w.inner = static_cast<int>(i);
    w.overwrite = overwriting + over.overwriting * below[i].overwrite + over.accumulating * below[i].accumulate;
    w.accumulate = adding + onto.overwriting * below[i].overwrite + onto.accumulating * below[i].accumulate;
    w.growth = growth(x) * below[i].growth;
    w.held = held + below[i].held;
    if (w.growth > limits_.growth || w.held > limits_.workspace) continue;
    if (!limits_.any_kind && w.seconds() > hopeless * classical) continue;
    keep(list, w);
  }
}

}  // namespace heptad
