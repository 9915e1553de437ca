// SPDX-License-Identifier: BSD-3-Clause
#include "tasks/priorities.hpp"

#include <catch2/catch.hpp>

#include "tasks/gemm_graph.hpp"
#include "tests/plan/machines.hpp"
#include "tests/tasks/plans.hpp"

using namespace heptad;
using namespace heptad::test;

namespace {

/// Tasks 0 → 2 → 3 and 1, which nothing waits for.
graph four_tasks() {
  graph g;
  for (double const seconds : {1.0, 2.5, 1.0, 1.0}) {
    task t;
    t.cost.seconds = seconds;
    t.priority = 4 - static_cast<int>(g.tasks.size());
    g.tasks.push_back(t);
  }
  return g;
}
dependencies const chain{.successors = {{2}, {}, {3}, {}}, .predecessors = {0, 0, 1, 1}, .exclusions = {}};

plan levels_of(int workers, int task_levels, int slots) {
  plan p = make_plan(std::vector<level_choice>(static_cast<std::size_t>(task_levels), {"winograd", level_kind::task}),
                     64, 64, 64, true);
  p.workers = workers;
  p.slots = slots;
  return p;
}

std::vector<int> priorities(graph const& g) {
  std::vector<int> list;
  for (task const& t : g.tasks) list.push_back(t.priority);
  return list;
}

}  // namespace

TEST_CASE("a task is as far from the end as the longest chain behind it") {
  CHECK(seconds_to_end(four_tasks(), chain) == std::vector<double>{3, 2.5, 2, 1});
}

TEST_CASE("for four workers in slots of nested levels the tasks with the longest chains behind them come first") {
  graph g = four_tasks();
  g.tasks[1].cost.seconds = 3.5;
  prioritize(g, chain, levels_of(4, 2, 2));
  CHECK(priorities(g) == std::vector<int>{3, 4, 2, 1});
}

TEST_CASE("fewer workers, and any number on one level or in one slot, keep to program order") {
  graph g = four_tasks();
  g.tasks[1].cost.seconds = 3.5;
  for (int const workers : {1, 2, 3}) prioritize(g, chain, levels_of(workers, 2, 2));
  prioritize(g, chain, levels_of(16, 1, 2));
  prioritize(g, chain, levels_of(16, 2, 1));
  CHECK(priorities(g) == std::vector<int>{4, 3, 2, 1});
}

TEST_CASE("no task comes before one that it waits for") {
  plan p = make_plan({{"winograd", level_kind::task}, {"sparse332", level_kind::task}}, 1200, 1200, 1200, true);
  p.workers = 8;
  p.slots = 3;
  graph g = build_gemm_graph(p, zen4());
  dependencies const d = derive_dependencies(g, false);
  prioritize(g, d, p);
  for (std::size_t t = 0; t < g.tasks.size(); ++t)
    for (int const next : d.successors[t])
      CHECK(g.tasks[static_cast<std::size_t>(next)].priority < g.tasks[t].priority);
}
