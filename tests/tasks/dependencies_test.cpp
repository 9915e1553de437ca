// SPDX-License-Identifier: BSD-3-Clause
// The edges that accesses imply, checked pair by pair.
#include <algorithm>
#include <catch2/catch.hpp>

#include "tasks/gemm_graph.hpp"
#include "tests/tasks/plans.hpp"

using namespace heptad;
using namespace heptad::test;

namespace {

/// reachable[t][p]: task t runs after task p.
std::vector<std::vector<bool>> reachability(dependencies const& d) {
  std::size_t const tasks = d.successors.size();
  std::vector<std::vector<bool>> after(tasks, std::vector<bool>(tasks, false));
  for (std::size_t p = 0; p < tasks; ++p)  // edges go forward in program order
    for (int s : d.successors[p]) {
      after[s][p] = true;
      for (std::size_t q = 0; q < p; ++q)
        if (after[p][q]) after[s][q] = true;
    }
  return after;
}

bool share_a_lock(dependencies const& d, std::size_t t, std::size_t s) {
  std::vector<int> both;
  std::ranges::set_intersection(d.exclusions[t], d.exclusions[s], std::back_inserter(both));
  return !both.empty();
}

enum class relation { none, commute, conflict };

relation between(task const& x, task const& y) {
  relation worst = relation::none;
  for (heptad::access const& a : x.accesses)
    for (heptad::access const& b : y.accesses) {
      if (!a.where.overlaps(b.where) || (a.mode == access_mode::read && b.mode == access_mode::read)) continue;
      bool const commute = a.mode == access_mode::accumulate && b.mode == access_mode::accumulate;
      worst = std::max(worst, commute ? relation::commute : relation::conflict);
    }
  return worst;
}

task make_task(std::vector<heptad::access> accesses) { return {"t", scale_step{}, std::move(accesses), {}, 0}; }

using extent = std::int64_t;

heptad::access reads(extent row, extent col, extent rows, extent cols) {
  return {{space_C, row, col, rows, cols}, access_mode::read};
}
heptad::access writes(extent row, extent col, extent rows, extent cols) {
  return {{space_C, row, col, rows, cols}, access_mode::write};
}
heptad::access accumulates(extent row, extent col, extent rows, extent cols) {
  return {{space_C, row, col, rows, cols}, access_mode::accumulate};
}

}  // namespace

TEST_CASE("tasks with conflicting accesses are ordered, commuting ones share a lock, and no others do") {
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    plan const p = random_plan(random);
    INFO(describe(p));
    graph const g = build_gemm_graph(p, {});
    for (bool ordered : {false, true}) {
      dependencies const d = derive_dependencies(g, ordered);
      auto const after = reachability(d);
      for (std::size_t t = 0; t < g.tasks.size(); ++t) {
        CHECK(std::ranges::is_sorted(d.exclusions[t]));
        for (std::size_t s = 0; s < t; ++s) {
          relation const r = between(g.tasks[t], g.tasks[s]);
          bool const locked = share_a_lock(d, t, s);
          if (r == relation::conflict || (ordered && r == relation::commute)) REQUIRE(after[t][s]);
          if (r == relation::commute && !after[t][s]) REQUIRE(locked);
          if (ordered || r == relation::none) REQUIRE_FALSE(locked);
        }
      }
    }
  }
}

TEST_CASE("hardly any edge is implied by others") {
  for (bool beta_zero : {false, true}) {
    plan p = make_plan("TT", "winograd", 512, 512, 512, beta_zero);
    p.workers = p.slots = 2;
    graph const g = build_gemm_graph(p, {});
    dependencies const d = derive_dependencies(g, false);
    auto const after = reachability(d);
    int edges = 0, implied = 0;
    for (std::size_t s = 0; s < g.tasks.size(); ++s)
      for (int t : d.successors[s]) {
        ++edges;
        implied += std::ranges::any_of(d.successors[s], [&](int q) { return q != t && after[t][q]; });
      }
    CHECK(implied * 20 <= edges);
  }
}

TEST_CASE("accumulates on one block commute under a lock, or run in program order on request") {
  graph g;
  g.tasks = {make_task({writes(0, 0, 4, 4)}), make_task({accumulates(0, 0, 4, 4)}),
             make_task({accumulates(2, 2, 4, 4)}), make_task({reads(3, 3, 1, 1)})};
  dependencies const free = derive_dependencies(g, false);
  CHECK(free.successors == std::vector<std::vector<int>>{{1, 2}, {3}, {3}, {}});
  CHECK(free.locks == 1);
  CHECK(free.exclusions == std::vector<std::vector<int>>{{}, {0}, {0}, {}});
  dependencies const fixed = derive_dependencies(g, true);
  CHECK(fixed.successors == std::vector<std::vector<int>>{{1}, {2}, {3}, {}});
  CHECK(fixed.locks == 0);
}

TEST_CASE("a write that covers part of a block leaves the rest to its last writer") {
  graph g;
  g.tasks = {make_task({writes(0, 0, 4, 4)}), make_task({writes(0, 0, 2, 4)}), make_task({reads(0, 0, 2, 2)}),
             make_task({reads(2, 0, 2, 2)})};
  CHECK(derive_dependencies(g, false).successors == std::vector<std::vector<int>>{{1, 3}, {2}, {}, {}});
}

TEST_CASE("accumulates on disjoint blocks exclude no one even when a third overlaps both") {
  graph g;
  g.tasks = {make_task({accumulates(0, 0, 2, 2)}), make_task({accumulates(2, 0, 2, 2)}),
             make_task({accumulates(0, 0, 4, 2)})};
  dependencies const d = derive_dependencies(g, false);
  CHECK_FALSE(share_a_lock(d, 0, 1));
  CHECK(share_a_lock(d, 0, 2));
  CHECK(share_a_lock(d, 1, 2));
}

TEST_CASE("updates that another access orders need no lock") {
  graph g;
  g.tasks = {make_task({accumulates(0, 0, 2, 2), writes(5, 5, 1, 1)}),
             make_task({reads(5, 5, 1, 1), accumulates(0, 0, 2, 2)})};
  dependencies const d = derive_dependencies(g, false);
  CHECK(d.locks == 0);
  CHECK(d.exclusions == std::vector<std::vector<int>>{{}, {}});
}
