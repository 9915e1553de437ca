// SPDX-License-Identifier: BSD-3-Clause
#include "src/plan/block_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "src/matrix/limits.hpp"

namespace heptad {
namespace {

constexpr int most_explicit_levels = 5, most_fused_levels = 2;
// Ways that are kept of every block and number of levels: cheap and accurate, or small, in different degrees.
constexpr std::size_t ways_kept = 4;

/// Cheapest first; drops what another way beats in time, accuracy and workspace.
void keep(std::pmr::vector<way>& list, way const& w) {
  auto const beats = [](way const& a, way const& b) {
    return a.seconds() <= b.seconds() && a.growth <= b.growth && a.held <= b.held;
  };
  if (std::ranges::any_of(list, [&](way const& other) { return beats(other, w); })) return;
  std::erase_if(list, [&](way const& other) { return beats(w, other); });
  list.reserve(ways_kept + 1);
  auto const at = std::ranges::upper_bound(list, w.seconds(), {}, &way::seconds);
  list.insert(at, w);
  if (list.size() > ways_kept) list.pop_back();
}

}  // namespace

bool best_ways::all_below(double seconds) const noexcept {
  return list.size() == ways_kept && list.back().seconds() < seconds;
}

void best_ways::depend_on(best_ways const& inner) noexcept {
  least_growth = std::max(least_growth, inner.least_growth);
  least_workspace = std::max(least_workspace, inner.least_workspace);
  most_growth = std::min(most_growth, inner.most_growth);
  most_workspace = std::min(most_workspace, inner.most_workspace);
}

bool best_ways::allow(double growth, double workspace, search_limits const& limits) noexcept {
  auto const refuse = [](double& most, double x) {
    most = std::min(most, std::nextafter(x, 0));
    return false;
  };
  if (growth > limits.growth) return refuse(most_growth, growth);
  if (workspace > limits.workspace) return refuse(most_workspace, workspace);
  least_growth = std::max(least_growth, growth);
  least_workspace = std::max(least_workspace, workspace);
  return true;
}

void block_search::set(search_limits const& limits) {
  auto const others = [](search_limits const& l) {
    return std::tuple(l.smallest_leaf, l.any_kind, l.most_levels, l.proved);
  };
  if (others(limits) != others(limits_)) known_.clear();
  limits_ = limits;
}

block_search::block& block_search::at(divisors d, bool mixed) {
  auto const [found, fresh] = known_.try_emplace(key{d, mixed}, &memory_);
  block& x = found->second;
  if (!fresh) return x;
  x.d = d, x.mixed = mixed;
  x.size = {double(shape_.m) / d[0], double(shape_.n) / d[1], double(shape_.k) / d[2]};
  ++priced_;
  x.in_cache = price_.product(x.size.m, x.size.n, x.size.k);
  auto const [m, n, k] = x.size;
  if (inside_passes(x)) {
    auto const fetching = [&](bool fused, distance from) { return price_.fetching(m, n, k, fused, from); };
    double const plain = fetching(false, distance::passed);
    x.before_fused = fetching(true, distance::passed);
    x.leaf = x.in_cache + plain;
    if (workers_ > 1) {
      x.fused_in_memory = fetching(true, distance::in_memory) - x.before_fused;
      x.leaf_in_memory = fetching(false, distance::in_memory) - plain;
    }
  } else {
    double const A = price_.element_bytes() * m * k, B = price_.element_bytes() * k * n;
    x.before_fused = prices::look_of_fused(price_.scan(A, A) + price_.scan(B, B), shape_.beta_zero);
    x.leaf = x.in_cache;
  }
  x.ways.resize(static_cast<std::size_t>(limits_.most_levels) + 1);
  return x;
}

best_ways const& block_search::best(block& x, int levels) {
  auto& known = x.ways[static_cast<std::size_t>(levels)];
  if (known && known->hold(limits_)) return *known;
  best_ways found{.list = std::pmr::vector<way>(&memory_)};
  if (levels == 0) {
    way leaf;
    leaf.overwrite = leaf.accumulate = x.leaf;
    found.list.push_back(leaf);
    return known.emplace(std::move(found));
  }
  for (division& by : divisions(x)) {
    if (levels <= most_fused_levels)
      for (fused_levels& f : fused(x, by, levels)) add_fused(found, x, f);
    if (limits_.any_kind || levels <= most_explicit_levels + most_fused_levels) add_explicit(found, x, by, levels);
  }
  return known.emplace(std::move(found));
}

bool block_search::fits(extent const& block, level_counts const& t) const {
  extent const inner = block.over(t);
  return std::min({inner.m, inner.n, inner.k}) >= double(limits_.smallest_leaf);
}

bool block_search::may_follow(shape_group const& shape, bool mixed) const noexcept {
  return !mixed || shape.blocks().halves() || from_.shapes.size() == 1;
}

std::pmr::vector<block_search::division>& block_search::divisions(block& x) {
  if (x.divisions) return *x.divisions;
  x.divisions.emplace(&memory_).reserve(x.mixed ? 1 : from_.shapes.size());
  for (auto const& shape : from_.shapes)
    if (may_follow(*shape, x.mixed) && fits(x.size, shape->blocks()))
      x.divisions->push_back({shape.get(), nullptr, {}, {}});
  return *x.divisions;
}

block_search::block& block_search::inside(block const& x, division& by) {
  if (by.inside == nullptr) {
    level_counts const& t = by.shape->blocks();
    by.inside = &at({static_cast<std::uint32_t>(x.d[0] * t.m), static_cast<std::uint32_t>(x.d[1] * t.n),
                     static_cast<std::uint32_t>(x.d[2] * t.k)},
                    x.mixed || !t.halves());
  }
  return *by.inside;
}

std::pmr::vector<block_search::around> const& block_search::algorithms(block const& x, division& by) {
  if (by.algorithms) return *by.algorithms;
  extent const inner = inside(x, by).size;
  std::pmr::vector<around> list(&memory_);
  list.reserve(by.shape->passes().size());
  for (known_algorithm const* a : by.shape->passes()) list.push_back(price_around(inner, *a));
  return by.algorithms.emplace(std::move(list));
}

block_search::around block_search::price_around(extent const& inner, known_algorithm const& x) const {
  operand_layouts const layout{shape_.a_row_major, shape_.b_row_major};
  level_passes const& over = x.traffic.in(order_of(inner, layout, true, false));
  level_passes const& onto = x.traffic.in(order_of(inner, layout, false, false));
  double const bytes = price_.element_bytes();
  pass_prices const overwriting(over, inner, bytes), adding(onto, inner, bytes);
  return {&x,
          &over,
          &onto,
          overwriting.seconds(price_),
          adding.seconds(price_),
          price_.left_by_passes(adding.touched(), workers_) == distance::in_memory,
          bytes * (over.sums_A * inner.m * inner.k + over.sums_B * inner.k * inner.n),
          bytes * onto.temporaries * inner.m * inner.n};
}

double block_search::growth(known_algorithm const& x) const noexcept {
  // What a level adds to the proved bound beyond this factor shows when the whole list is weighed.
  double const k = x.traffic.k;
  return limits_.proved ? x.accuracy.amplification / (k * k) : x.accuracy.growth;
}

double block_search::from_memory(block const& x, way const& w) noexcept {
  return w.outer == nullptr ? x.leaf_in_memory : w.fused ? x.fused_in_memory : 0;
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

double block_search::price(block const& x, fused_levels const& f, level_counts const& fused) {
  ++priced_;
  auto const [m, n, k] = x.size.over(fused);
  product_terms const all = terms_of(fused);
  fused_blocks const blocks{fused.m, fused.k, fused.n, fused.rank};
  auto const updates = [&](bool product_buffer) {
    return price_.further_updates(m, n, k, fused.rank, all, {.product_buffer = product_buffer, .fused = blocks});
  };
  return f.least / 2 + x.before_fused + price_.further_sums(m, n, k, fused.rank, all, blocks) +
         (k > most_k_block ? std::min(updates(false), updates(true)) : updates(false));
}

std::pmr::vector<block_search::fused_levels>& block_search::fused(block const& x, division& by, int levels) {
  auto& known = by.fused[static_cast<std::size_t>(levels - 1)];
  if (known) return *known;
  std::pmr::vector<fused_levels>& list = known.emplace(&memory_);
  level_counts const& t = by.shape->blocks();
  // May they pay, even if their sums and updates cost nothing?
  auto const offer = [&](shape_group const* second, double products) {
    if (limits_.any_kind || products < seconds_of_leaf(x)) list.push_back({by.shape, second, products, {}});
  };
  block& inner = inside(x, by);
  if (levels == 1) {
    offer(nullptr, 2 * t.rank * inner.in_cache);
  } else if (t.halves() || from_.shapes.size() == 1) {
    // The outer one halves: the packing would form too many sums of other pairs.
    for (division& in : divisions(inner))
      offer(in.shape, 2 * double(t.rank) * in.shape->blocks().rank * inside(inner, in).in_cache);
  }
  return list;
}

std::pmr::vector<block_search::fused_levels::choice> const& block_search::priced(block const& x, fused_levels& f) {
  if (f.choices) return *f.choices;
  auto& choices = f.choices.emplace(&memory_);
  auto const add = [&](known_algorithm const* outer, known_algorithm const* second, level_counts const& t) {
    if (t.widest() <= most_terms) choices.push_back({outer, second, price(x, f, t)});
  };
  for (known_algorithm const* a : f.outer->fused()) {
    if (f.second == nullptr) add(a, nullptr, a->traffic);
    else
      for (known_algorithm const* b : f.second->fused()) add(a, b, fused_over(a->traffic, b->traffic));
  }
  return choices;
}

void block_search::add_fused(best_ways& best, block const& x, fused_levels& f) {
  if (best.all_below(f.least)) return;
  for (fused_levels::choice const& c : priced(x, f)) {
    way w;
    w.outer = c.outer, w.second = c.second, w.fused = true;
    w.growth = growth(*c.outer) * (c.second == nullptr ? 1 : growth(*c.second));
    w.overwrite = w.accumulate = c.seconds;
    if (best.allow(w.growth, 0, limits_)) keep(best.list, w);
  }
}

void block_search::add_explicit(best_ways& best, block const& outer, division& by, int levels) {
  constexpr double any_sums = std::numeric_limits<double>::min();
  if (!best.allow(0, any_sums, limits_)) return;
  block& inner = inside(outer, by);
  best_ways const& below = this->best(inner, levels - 1);
  best.depend_on(below);
  if (below.list.empty()) return;
  double const most = limits_.any_kind ? std::numeric_limits<double>::infinity() : hopeless * seconds_of_leaf(outer);
  int const rank = by.shape->blocks().rank;
  if (rank * below.list.front().seconds() > most) return;
  double least = std::numeric_limits<double>::infinity();
  for (way const& w : below.list) least = std::min({least, w.overwrite, w.accumulate});
  if (best.all_below(2 * rank * least)) return;
  for (around const& x : algorithms(outer, by)) add_explicit(best, inner, below.list, x, most);
}

void block_search::add_explicit(best_ways& best, block const& inner, std::pmr::vector<way> const& below,
                                around const& x, double most) const {
  double const factor = growth(*x.algorithm), held = x.sums + x.temporaries;
  if (!best.allow(factor, held, limits_)) return;
  for (std::size_t i = 0; i < below.size(); ++i) {
    way w;
    w.outer = x.algorithm;
    w.inner_block = inner.d, w.inner_mixed = inner.mixed, w.inner = static_cast<int>(i);
    double const fetching = x.leaves_in_memory ? from_memory(inner, below[i]) : 0;
    double const overwrite = below[i].overwrite + fetching, accumulate = below[i].accumulate + fetching;
    w.overwrite = x.overwriting + x.over->overwriting * overwrite + x.over->accumulating * accumulate;
    w.accumulate = x.adding + x.onto->overwriting * overwrite + x.onto->accumulating * accumulate;
    w.growth = factor * below[i].growth;
    w.held = held + below[i].held;
    if (w.seconds() <= most && best.allow(w.growth, w.held, limits_)) keep(best.list, w);
  }
}

}  // namespace heptad
