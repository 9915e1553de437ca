// SPDX-License-Identifier: BSD-3-Clause
#include "src/plan/search_space.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "src/plan/block_search.hpp"

namespace heptad {
namespace {

constexpr int most_task_levels = 3;

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
  list_search(block_search& blocks, int workers, search_limits const& limits, std::size_t most)
      : blocks_(blocks), workers_(workers), limits_(limits), most_(most) {}

  /// Cheapest first.
  std::vector<whole> run() {
    bool const over = blocks_.shape().beta_zero;
    follow({}, blocks_.at({1, 1, 1}, false), {false, 0, over ? 1.0 : 0.0, over ? 0.0 : 1.0}, 1, 0);
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

  /// What surrounds the products: whether their operands are left in memory, seconds of passes, products that
  /// overwrite, products that add.
  struct surroundings {
    bool in_memory = false;
    double passes = 0, overwriting = 0, accumulating = 1;
  };

  void follow(task_levels const& tasks, block_search::block& block, surroundings const& around, double growth,
              double held) {
    int const outer = static_cast<int>(tasks.count);
    for (int inner = std::max(0, limits_.least_levels - outer); inner + outer <= limits_.most_levels; ++inner) {
      if (inner + outer == 0) continue;
      std::pmr::vector<way> const& ways = blocks_.ways(block, inner);
      for (std::size_t i = 0; i < ways.size(); ++i) {
        if (growth * ways[i].growth > limits_.growth || held + ways[i].held * workers_ > limits_.workspace) continue;
        double const fetching = around.in_memory ? block_search::from_memory(block, ways[i]) : 0;
        double const work = around.passes + around.overwriting * (ways[i].overwrite + fetching) +
                            around.accumulating * (ways[i].accumulate + fetching);
        if (may_keep(outer, work)) keep({tasks, &block, inner, i, work * idle(tasks, ways[i])});
      }
    }
    bool const more = (workers_ > 1 || limits_.any_kind) && outer < std::min(most_task_levels, limits_.most_levels);
    if (!more || limits_.workspace <= 0) return;
    double const most =
        limits_.any_kind ? std::numeric_limits<double>::infinity() : hopeless * block_search::seconds_of_leaf(block);
    for (block_search::division& by : blocks_.divisions(block)) {
      block_search::block& inner = blocks_.inside(block, by);
      if (by.shape->blocks().rank * block_search::seconds_of_leaf(inner) > most) continue;
      for (block_search::around const& x : blocks_.algorithms(block, by))
        if (growth * blocks_.growth(*x.algorithm) <= limits_.growth) follow_task(tasks, inner, around, growth, held, x);
    }
  }

  void follow_task(task_levels tasks, block_search::block& inner, surroundings const& around, double growth,
                   double held, block_search::around const& x) {
    if (held + x.sums > limits_.workspace) return;  // in one slot, at the least
    surroundings next;
    next.in_memory = x.leaves_in_memory;
    next.passes = around.passes + around.overwriting * x.overwriting + around.accumulating * x.adding;
    next.overwriting = around.overwriting * x.over->overwriting + around.accumulating * x.onto->overwriting;
    next.accumulating = around.overwriting * x.over->accumulating + around.accumulating * x.onto->accumulating;
    tasks.algorithms[tasks.count++] = x.algorithm;
    follow(tasks, inner, next, growth * blocks_.growth(*x.algorithm), held + x.sums);
  }

  [[nodiscard]] bool may_keep(int tasks, double seconds) const {
    std::vector<whole> const& same = found_[static_cast<std::size_t>(tasks)];
    return same.size() < most_ || seconds < same.back().seconds;
  }
  void keep(whole const& w) {
    if (!may_keep(static_cast<int>(w.tasks.count), w.seconds)) return;
    std::vector<whole>& same = found_[w.tasks.count];
    if (same.size() == most_) same.pop_back();
    same.insert(std::ranges::upper_bound(same, w.seconds, {}, &whole::seconds), w);
  }

  block_search& blocks_;
  int const workers_;
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
  // A single task level has one node, so one slot; as many strips as workers leave none of these without work. With
  // them more levels need but one slot, and so the least workspace.
  std::array<order, 4> const one_level{order{1, false, 1}, {1, true, 1}, {1, false, workers}, {1, true, workers}};
  std::array<order, 5> const more_levels{
      order{1, false, 1}, {2, false, 1}, {3, false, 1}, {3, true, 1}, {1, false, workers}};
  std::array<order, 5> const many_workers{
      order{3, false, 1}, {3, true, 1}, {3, false, 4}, {3, true, 4}, {1, false, workers}};
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

search_result search(block_search& blocks, int workers, search_limits const& limits, std::size_t count) {
  search_result result;
  blocks.set(limits);
  // Of every number of task levels some: how well they share the workers is only known when they are weighed.
  std::size_t const share = workers > 1 ? (count + 1) / 2 : count;
  for (whole const& w : list_search(blocks, workers, limits, share).run()) {
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

search_result search(palette const& from, element_type type, problem const& shape, int workers,
                     machine_profile const& machine, search_limits const& limits, std::size_t count) {
  block_search blocks(from, type, shape, workers, machine);
  return search(blocks, workers, limits, count);
}

}  // namespace heptad
