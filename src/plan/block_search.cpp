// SPDX-License-Identifier: BSD-3-Clause
#include "src/plan/block_search.hpp"

#include <algorithm>
#include <limits>

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

void block_search::set(search_limits const& limits) {
  if (limits.smallest_leaf != limits_.smallest_leaf || limits.any_kind != limits_.any_kind) known_.clear();
  limits_ = limits;
  for (auto& [where, x] : known_) x.ways.assign(static_cast<std::size_t>(limits_.most_levels) + 1, std::nullopt);
}

block_search::block& block_search::at(divisors d, bool mixed) {
  auto const [found, fresh] = known_.try_emplace(key{d, mixed});
  block& x = found->second;
  if (!fresh) return x;
  x.d = d, x.mixed = mixed;
  x.size = {double(shape_.m) / d[0], double(shape_.n) / d[1], double(shape_.k) / d[2]};
  x.leaf = price(x, level_traffic{});
  x.ways.resize(static_cast<std::size_t>(limits_.most_levels) + 1);
  return x;
}

std::vector<way> const& block_search::ways(block& x, int levels) {
  auto& known = x.ways[static_cast<std::size_t>(levels)];
  if (known) return *known;
  std::vector<way> list;
  if (levels == 0) {
    way leaf;
    leaf.overwrite = leaf.accumulate = x.leaf;
    list.push_back(leaf);
    return known.emplace(std::move(list));
  }
  for (division& by : divisions(x)) {
    if (levels <= most_fused_levels)
      for (fused_levels const& f : fused(x, by, levels)) add_fused(list, f);
    bool const room = limits_.workspace > 0;  // for sums
    if (room && (limits_.any_kind || levels <= most_explicit_levels + most_fused_levels))
      add_explicit(list, x, by, levels);
  }
  return known.emplace(std::move(list));
}

bool block_search::fits(extent const& block, level_traffic const& t) const {
  extent const inner = block.over(t);
  return std::min({inner.m, inner.n, inner.k}) >= double(limits_.smallest_leaf);
}

bool block_search::may_follow(shape_group const& shape, bool mixed) const noexcept {
  return !mixed || shape.blocks().halves() || from_.shapes.size() == 1;
}

std::vector<block_search::division>& block_search::divisions(block& x) {
  if (x.divisions) return *x.divisions;
  x.divisions.emplace();
  for (auto const& shape : from_.shapes)
    if (may_follow(*shape, x.mixed) && fits(x.size, shape->blocks()))
      x.divisions->push_back({shape.get(), nullptr, {}, {}});
  return *x.divisions;
}

block_search::block& block_search::inside(block const& x, division& by) {
  if (by.inside == nullptr) {
    level_traffic const& t = by.shape->blocks();
    by.inside = &at({static_cast<std::uint32_t>(x.d[0] * t.m), static_cast<std::uint32_t>(x.d[1] * t.n),
                     static_cast<std::uint32_t>(x.d[2] * t.k)},
                    x.mixed || !t.halves());
  }
  return *by.inside;
}

std::vector<block_search::around> const& block_search::algorithms(block const& x, division& by) {
  if (by.algorithms) return *by.algorithms;
  extent const inner = inside(x, by).size;
  std::vector<around> list;
  for (known_algorithm const* a : by.shape->passes()) list.push_back(price_around(inner, *a));
  return by.algorithms.emplace(std::move(list));
}

block_search::around block_search::price_around(extent const& inner, known_algorithm const& x) const {
  operand_layouts const layout{shape_.a_row_major, shape_.b_row_major};
  level_passes const& over = x.traffic.in(order_of(inner, layout, true, false));
  level_passes const& onto = x.traffic.in(order_of(inner, layout, false, false));
  double const bytes = price_.element_bytes();
  return {&x,
          &over,
          &onto,
          pass_prices(over, inner, bytes).seconds(price_),
          pass_prices(onto, inner, bytes).seconds(price_),
          bytes * (over.sums_A * inner.m * inner.k + over.sums_B * inner.k * inner.n),
          bytes * onto.temporaries * inner.m * inner.n};
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

double block_search::price(block const& x, level_traffic const& fused) {
  ++priced_;
  double const straight = leaf_seconds(price_, x.size, fused, false);
  return fused.rank == 1 ? straight : std::min(straight, leaf_seconds(price_, x.size, fused, true));
}

std::vector<block_search::fused_levels> const& block_search::fused(block const& x, division& by, int levels) {
  auto& known = by.fused[static_cast<std::size_t>(levels - 1)];
  if (known) return *known;
  std::vector<fused_levels> list;
  level_traffic const& t = by.shape->blocks();
  if (levels == 1 && may_pay(x, t))
    for (known_algorithm const* a : by.shape->fused()) price_fused(list, x, *a, nullptr);
  if (levels == 2 && (t.halves() || from_.shapes.size() == 1)) price_two_fused(list, x, *by.shape);
  return known.emplace(std::move(list));
}

void block_search::price_fused(std::vector<fused_levels>& list, block const& x, known_algorithm const& outer,
                               known_algorithm const* second) {
  level_traffic const both = second == nullptr ? level_traffic{} : fused_over(outer.traffic, second->traffic);
  level_traffic const& all = second == nullptr ? outer.traffic : both;
  if (std::max({all.widest_A, all.widest_B, all.widest_C}) > most_terms) return;
  list.push_back({&outer, second, price(x, all)});
}

bool block_search::may_pay(block const& x, level_traffic const& t) {
  if (limits_.any_kind) return true;
  extent const inner = x.size.over(t);
  ++priced_;
  return 2 * t.rank * price_.product(inner.m, inner.n, inner.k) < seconds_of_leaf(x);
}

void block_search::price_two_fused(std::vector<fused_levels>& list, block const& x, shape_group const& outer) {
  extent const half = x.size.over(outer.blocks());
  for (auto const& shape : from_.shapes) {
    if (!may_follow(*shape, x.mixed) || !fits(half, shape->blocks())) continue;
    if (!may_pay(x, fused_over(outer.blocks(), shape->blocks()))) continue;
    for (known_algorithm const* a : outer.fused())
      for (known_algorithm const* b : shape->fused()) price_fused(list, x, *a, b);
  }
}

void block_search::add_fused(std::vector<way>& list, fused_levels const& x) const {
  way w;
  w.outer = x.outer, w.second = x.second, w.fused = true;
  w.growth = growth(*x.outer) * (x.second == nullptr ? 1 : growth(*x.second));
  if (w.growth > limits_.growth) return;
  w.overwrite = w.accumulate = x.seconds;
  keep(list, w);
}

void block_search::add_explicit(std::vector<way>& list, block const& outer, division& by, int levels) {
  block& inner = inside(outer, by);
  std::vector<way> const& below = ways(inner, levels - 1);
  if (below.empty()) return;
  double const most = limits_.any_kind ? std::numeric_limits<double>::infinity() : hopeless * seconds_of_leaf(outer);
  if (by.shape->blocks().rank * below.front().seconds() > most) return;
  for (around const& x : algorithms(outer, by)) add_explicit(list, inner, below, x, most);
}

void block_search::add_explicit(std::vector<way>& list, block const& inner, std::vector<way> const& below,
                                around const& x, double most) const {
  double const factor = growth(*x.algorithm), held = x.sums + x.temporaries;
  if (factor > limits_.growth || held > limits_.workspace) return;
  for (std::size_t i = 0; i < below.size(); ++i) {
    way w;
    w.outer = x.algorithm;
    w.inner_block = inner.d, w.inner_mixed = inner.mixed, w.inner = static_cast<int>(i);
    w.overwrite = x.overwriting + x.over->overwriting * below[i].overwrite + x.over->accumulating * below[i].accumulate;
    w.accumulate = x.adding + x.onto->overwriting * below[i].overwrite + x.onto->accumulating * below[i].accumulate;
    w.growth = factor * below[i].growth;
    w.held = held + below[i].held;
    if (w.growth > limits_.growth || w.held > limits_.workspace || w.seconds() > most) continue;
    keep(list, w);
  }
}

}  // namespace heptad
