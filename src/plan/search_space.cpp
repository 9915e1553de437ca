// SPDX-License-Identifier: BSD-3-Clause
#include "src/plan/search_space.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>

#include "src/matrix/limits.hpp"
#include "src/plan/level_price.hpp"

namespace heptad {
namespace {

constexpr int most_task_levels = 3, most_explicit_levels = 5, most_fused_levels = 2;
// Ways that are kept of every block and number of levels: cheap and accurate, or small, in different degrees.
constexpr std::size_t ways_kept = 4;
// A way that costs so much more than the classical product of its block is not followed.
constexpr double hopeless = 1.1;

bool beats_fused(known_algorithm const& x, known_algorithm const& y) {
  level_traffic const &a = x.traffic, &b = y.traffic;
  return a.rank <= b.rank && a.terms_A <= b.terms_A && a.terms_B <= b.terms_B && a.terms_C <= b.terms_C &&
         x.accuracy.growth <= y.accuracy.growth;
}

bool beats_passes(known_algorithm const& x, known_algorithm const& y) {
  if (x.traffic.rank > y.traffic.rank || x.accuracy.growth > y.accuracy.growth) return false;
  auto const moved_A = [](level_passes const& p) { return p.sums_A > 0 ? p.read_A + p.sums_A : 0; };
  auto const moved_B = [](level_passes const& p) { return p.sums_B > 0 ? p.read_B + p.sums_B : 0; };
  auto const moved_C = [](level_passes const& p) { return p.read_C + p.overwritten_C + 2 * p.accumulated_C; };
  for (bool const overwrite : {false, true}) {
    level_passes const &a = x.traffic.in({overwrite, false, true, true}),
                       &b = y.traffic.in({overwrite, false, true, true});
    if (moved_A(a) > moved_A(b) || moved_B(a) > moved_B(b) || moved_C(a) > moved_C(b) ||
        a.sums_A + a.sums_B + a.temporaries > b.sums_A + b.sums_B + b.temporaries)
      return false;
  }
  return true;
}

template <typename Beats>
std::vector<known_algorithm const*> unbeaten(std::vector<known_algorithm const*> const& all, Beats beats) {
  std::vector<known_algorithm const*> kept;
  for (known_algorithm const* x : all) {
    if (std::ranges::any_of(kept, [&](known_algorithm const* y) { return beats(*y, *x); })) continue;
    std::erase_if(kept, [&](known_algorithm const* y) { return beats(*x, *y); });
    kept.push_back(x);
  }
  return kept;
}

/// A way to do a block: its outermost level and a way for what is inside.
struct way {
  double overwrite = 0, accumulate = 0;  // seconds on one worker, by how its C is updated
  double growth = 1;
  double held = 0;  // bytes of buffers
  known_algorithm const* outer = nullptr;
  known_algorithm const* second = nullptr;  // of two fused levels
  bool fused = false;
  std::array<std::uint32_t, 3> inner_block{};  // how often m, n, k are divided
  bool inner_mixed = false;
  int inner = -1;  // number of the way inside; none: a leaf

  [[nodiscard]] double seconds() const noexcept { return overwrite + accumulate; }
};

class block_search {
public:
  using divisors = std::array<std::uint32_t, 3>;

  struct block {
    divisors d;
    bool mixed;                                         // a level of a shape that does not halve is above
    std::vector<std::optional<std::vector<way>>> ways;  // by the number of levels; none: not yet known
  };

  block_search(palette const& from, element_type type, problem const& shape, machine_profile const& machine,
               search_limits const& limits)
      : from_(from), price_(type, machine), shape_(shape), limits_(limits) {}

  /// It stays where it is.
  block& at(divisors d, bool mixed) {
    auto const [found, fresh] = known_.try_emplace(key{d, mixed});
    if (fresh) found->second = {d, mixed, std::vector<std::optional<std::vector<way>>>(limits_.most_levels + 1)};
    return found->second;
  }

  /// The best ways to do the block with exactly so many levels.
  std::vector<way> const& ways(block& x, int levels) {
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
        if (levels == 2 && (shape->halves() || from_.shapes.size() == 1))
          add_two_fused(list, size, *shape, x.mixed, classical);
        bool const room = limits_.workspace > 0;  // for sums
        if (room && (limits_.any_kind || levels <= most_explicit_levels + most_fused_levels))
          add_explicit(list, x, *shape, levels, classical);
      }
    }
    return known.emplace(std::move(list));
  }
  double seconds_of_leaf(block& x) { return ways(x, 0).front().seconds(); }

  [[nodiscard]] extent size_of(block const& x) const {
    return {double(shape_.m) / x.d[0], double(shape_.n) / x.d[1], double(shape_.k) / x.d[2]};
  }
  [[nodiscard]] bool fits(extent const& block, level_traffic const& t) const {
    extent const inner = block.over(t);
    return std::min({inner.m, inner.n, inner.k}) >= double(limits_.smallest_leaf);
  }
  /// At most one level of a plan does not halve: more of them open a space that no plan within a millisecond covers,
  /// and what they gain over one is little.
  [[nodiscard]] bool may_follow(shape_group const& shape, bool mixed) const noexcept {
    return !mixed || shape.halves() || from_.shapes.size() == 1;
  }
  /// The blocks of a level.
  block& inside(block const& x, level_traffic const& t) {
    return at({static_cast<std::uint32_t>(x.d[0] * t.m), static_cast<std::uint32_t>(x.d[1] * t.n),
               static_cast<std::uint32_t>(x.d[2] * t.k)},
              x.mixed || t.m != 2 || t.k != 2 || t.n != 2);
  }
  [[nodiscard]] level_passes const& passes(level_traffic const& t, extent const& block, bool overwrite,
                                           bool independent) const {
    return t.in(order_of(block, {shape_.a_row_major, shape_.b_row_major}, overwrite, independent));
  }
  [[nodiscard]] prices const& price() const noexcept { return price_; }
  [[nodiscard]] double growth(known_algorithm const& x) const noexcept {
    // What a level adds to the proved bound beyond this factor shows when the whole list is weighed.
    double const k = x.traffic.k;
    return limits_.proved ? x.accuracy.amplification / (k * k) : x.accuracy.growth;
  }

  /// Appends the levels of a way.
  void unfold(way const& w, int levels, std::vector<outline_level>& into) {
    if (w.outer == nullptr) return;
    level_kind const kind = w.fused ? level_kind::fused : level_kind::explicit_passes;
    into.push_back({w.outer, kind});
    if (w.second != nullptr) into.push_back({w.second, kind});
    if (w.inner >= 0)
      unfold(ways(at(w.inner_block, w.inner_mixed), levels - 1)[static_cast<std::size_t>(w.inner)], levels - 1, into);
  }

  [[nodiscard]] std::size_t blocks() const noexcept { return known_.size(); }
  [[nodiscard]] std::size_t priced() const noexcept { return priced_; }

private:
  struct key {
    divisors d;
    bool mixed;
    friend bool operator==(key const&, key const&) = default;
  };
  struct hash {
    std::size_t operator()(key const& x) const noexcept {
      std::uint64_t h = x.mixed;
      for (std::uint32_t const part : x.d) h = (h ^ part) * 0x9e3779b97f4a7c15U;
      return h ^ h >> 32;
    }
  };

  double price(extent const& block, level_traffic const& fused) {
    ++priced_;
    double const straight = leaf_seconds(price_, block, fused, false);
    return fused.rank == 1 ? straight : std::min(straight, leaf_seconds(price_, block, fused, true));
  }

  void add_fused(std::vector<way>& list, extent const& block, known_algorithm const& x, known_algorithm const* second) {
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

  /// Even if its sums and updates cost nothing?
  [[nodiscard]] bool may_pay(extent const& block, level_traffic const& t, double classical) {
    if (limits_.any_kind) return true;
    extent const inner = block.over(t);
    ++priced_;
    return 2 * t.rank * price_.product(inner.m, inner.n, inner.k) < classical;
  }

  /// The outer one halves: the packing would form too many sums of other pairs.
  void add_two_fused(std::vector<way>& list, extent const& block, shape_group const& outer, bool mixed,
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

  void add_explicit(std::vector<way>& list, block const& outer, shape_group const& shape, int levels,
                    double classical) {
    block& next = inside(outer, shape.blocks());
    std::vector<way> const& below = ways(next, levels - 1);
    if (below.empty()) return;
    if (!limits_.any_kind && shape.blocks().rank * below.front().seconds() > hopeless * classical) return;
    for (known_algorithm const* x : shape.passes()) add_explicit(list, next, below, *x, classical);
  }

  void add_explicit(std::vector<way>& list, block const& next, std::vector<way> const& below, known_algorithm const& x,
                    double classical) {
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

  /// Cheapest first; drops what another way beats in time, accuracy and workspace.
  static void keep(std::vector<way>& list, way const& w) {
    auto const beats = [](way const& a, way const& b) {
      return a.seconds() <= b.seconds() && a.growth <= b.growth && a.held <= b.held;
    };
    if (std::ranges::any_of(list, [&](way const& other) { return beats(other, w); })) return;
    std::erase_if(list, [&](way const& other) { return beats(w, other); });
    auto const at = std::ranges::upper_bound(list, w.seconds(), {}, &way::seconds);
    list.insert(at, w);
    if (list.size() > ways_kept) list.pop_back();
  }

  palette const& from_;
  prices const price_;
  problem const& shape_;
  search_limits const& limits_;
  std::unordered_map<key, block, hash> known_;
  std::size_t priced_ = 0;
};

struct task_levels {
  std::array<known_algorithm const*, most_task_levels> algorithms{};
  std::size_t count = 0;

  [[nodiscard]] auto all() const { return std::span(algorithms).first(count); }
};

/// Task levels and a way for the products below them.
struct whole {
  task_levels tasks;
  block_search::block* block = nullptr;
  int inner_levels = 0;
  std::size_t inner = 0;
  double seconds = 0;  // about: all work shared by the workers
};

class list_search {
public:
  /// Finds `most` of every number of task levels.
  list_search(palette const& from, problem const& shape, int workers, block_search& blocks, search_limits const& limits,
              std::size_t most)
      : from_(from), shape_(shape), workers_(workers), blocks_(blocks), limits_(limits), most_(most) {}

  /// Cheapest first.
  std::vector<whole> run() {
    bool const over = shape_.beta_zero;
    follow({}, blocks_.at({1, 1, 1}, false), {0, over ? 1.0 : 0.0, over ? 0.0 : 1.0}, 1, 0);
    std::vector<whole> all;
    for (auto const& some : found_) all.insert(all.end(), some.begin(), some.end());
    std::ranges::stable_sort(all, {}, &whole::seconds);
    return all;
  }

private:
  /// Rounds in which the workers take the products, over what would be if they came out even. Products with passes of
  /// their own are not cut in strips.
  [[nodiscard]] double idle(task_levels const& tasks, way const& below) const {
    if (tasks.count == 0 || (tasks.count == 1 && below.held == 0)) return 1;
    double products = 1;
    for (known_algorithm const* x : tasks.all()) products *= x->traffic.rank;
    return std::ceil(products / workers_) * workers_ / products;
  }

  /// What surrounds the products: seconds of passes, products that overwrite, products that add.
  struct surroundings {
    double passes = 0, overwriting = 0, accumulating = 1;
  };

  void follow(task_levels const& tasks, block_search::block& block, surroundings const& around, double growth,
              double held) {
    int const outer = static_cast<int>(tasks.count);
    for (int inner = std::max(0, limits_.least_levels - outer); inner + outer <= limits_.most_levels; ++inner) {
      if (inner + outer == 0) continue;
      std::vector<way> const& ways = blocks_.ways(block, inner);
      for (std::size_t i = 0; i < ways.size(); ++i) {
        if (growth * ways[i].growth > limits_.growth || held + ways[i].held * workers_ > limits_.workspace) continue;
        double const work =
            around.passes + around.overwriting * ways[i].overwrite + around.accumulating * ways[i].accumulate;
        keep({tasks, &block, inner, i, work * idle(tasks, ways[i])});
      }
    }
    bool const more = (workers_ > 1 || limits_.any_kind) && outer < std::min(most_task_levels, limits_.most_levels);
    if (!more || limits_.workspace <= 0) return;
    extent const size = blocks_.size_of(block);
    double const classical = blocks_.seconds_of_leaf(block);
    for (auto const& shape : from_.shapes) {
      if (!blocks_.may_follow(*shape, block.mixed) || !blocks_.fits(size, shape->blocks())) continue;
      auto& inner = blocks_.inside(block, shape->blocks());
      if (!limits_.any_kind && shape->blocks().rank * blocks_.seconds_of_leaf(inner) > hopeless * classical) continue;
      for (known_algorithm const* x : shape->passes())
        if (growth * blocks_.growth(*x) <= limits_.growth) follow_task(tasks, inner, around, growth, held, *x);
    }
  }

  void follow_task(task_levels tasks, block_search::block& block, surroundings const& around, double growth,
                   double held, known_algorithm const& x) {
    extent const inner = blocks_.size_of(block);
    level_passes const& over = blocks_.passes(x.traffic, inner, true, false);
    level_passes const& onto = blocks_.passes(x.traffic, inner, false, false);
    double const bytes = blocks_.price().element_bytes();
    double const sums = bytes * (over.sums_A * inner.m * inner.k + over.sums_B * inner.k * inner.n);
    if (held + sums > limits_.workspace) return;  // in one slot, at the least
    surroundings next;
    next.passes = around.passes + around.overwriting * pass_prices(over, inner, bytes).seconds(blocks_.price()) +
                  around.accumulating * pass_prices(onto, inner, bytes).seconds(blocks_.price());
    next.overwriting = around.overwriting * over.overwriting + around.accumulating * onto.overwriting;
    next.accumulating = around.overwriting * over.accumulating + around.accumulating * onto.accumulating;
    tasks.algorithms[tasks.count++] = &x;
    follow(tasks, block, next, growth * blocks_.growth(x), held + sums);
  }

  void keep(whole const& w) {
    std::vector<whole>& same = found_[w.tasks.count];
    if (same.size() == most_ && w.seconds >= same.back().seconds) return;
    if (same.size() == most_) same.pop_back();
    same.insert(std::ranges::upper_bound(same, w.seconds, {}, &whole::seconds), w);
  }

  palette const& from_;
  problem const& shape_;
  int const workers_;
  block_search& blocks_;
  search_limits const& limits_;
  std::size_t const most_;
  std::array<std::vector<whole>, most_task_levels + 1> found_;
};

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
  auto const tasks = std::ranges::count(o.levels, level_kind::task, &outline_level::kind);
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

void shape_group::load() const {
  std::call_once(loaded_, [this] {
    std::vector<known_algorithm const*> all;
    for (std::string const& name : names_) all.push_back(&know(find_algorithm(name)));
    passes_ = unbeaten(all, beats_passes);
    fused_ = unbeaten(all, beats_fused);
  });
}

namespace {

using shape_groups = std::vector<std::shared_ptr<shape_group const>>;

shape_groups group(std::vector<algorithm_header> const& all) {
  std::map<std::array<int, 3>, std::vector<algorithm_header>> by_shape;
  for (algorithm_header const& x : all)
    if (x.rank < x.m * x.k * x.n) by_shape[{x.m, x.k, x.n}].push_back(x);
  shape_groups groups;
  for (auto const& [sides, same] : by_shape) {
    std::vector<std::string> names;
    for (algorithm_header const& x : same) names.push_back(x.name);
    int const rank = std::ranges::min(same, {}, &algorithm_header::rank).rank;
    groups.push_back(std::make_shared<shape_group const>(sides[0], sides[1], sides[2], rank, std::move(names)));
  }
  return groups;
}

/// Passes over more blocks at once than this take up to a sixth longer than predicted (4096³ with <5,4,3;47>): such
/// algorithms are only used when they are named.
constexpr int most_blocks = 16;

shape_groups const& all_groups() {
  static shape_groups const all = [] {
    std::vector<algorithm_header> few = known_algorithms();
    std::erase_if(few, [](auto const& x) { return std::max({x.m * x.k, x.k * x.n, x.m * x.n}) > most_blocks; });
    return group(few);
  }();
  return all;
}

algorithm_header header_of(std::string const& name) {
  auto const x = find_algorithm(name);
  return {name, x->source, x->m, x->k, x->n, x->rank()};
}

}  // namespace

palette::palette(std::string const& name, bool only_halves) {
  if (name != "auto") shapes = group({header_of(name)});
  else
    std::ranges::copy_if(all_groups(), std::back_inserter(shapes),
                         [&](auto const& shape) { return !only_halves || shape->halves(); });
}

palette::palette(std::vector<std::string> const& names) {
  std::vector<algorithm_header> headers;
  std::ranges::transform(names, std::back_inserter(headers), header_of);
  shapes = group(headers);
}

search_result search(palette const& from, element_type type, problem const& shape, int workers,
                     machine_profile const& machine, search_limits const& limits, std::size_t count) {
  search_result result;
  if (from.shapes.empty()) return result;
  block_search blocks(from, type, shape, machine, limits);
  // Of every number of task levels some: how well they share the workers is only known when they are weighed.
  std::size_t const share = workers > 1 ? (count + 1) / 2 : count;
  for (whole const& w : list_search(from, shape, workers, blocks, limits, share).run()) {
    if (result.lists == count) break;
    ++result.lists;
    outline o;
    for (known_algorithm const* x : w.tasks.all()) o.levels.push_back({x, level_kind::task});
    blocks.unfold(blocks.ways(*w.block, w.inner_levels)[w.inner], w.inner_levels, o.levels);
    vary(std::move(o), workers, result.outlines);
  }
  result.blocks = blocks.blocks();
  result.prices = blocks.priced();
  return result;
}

}  // namespace heptad
