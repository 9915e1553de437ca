// SPDX-License-Identifier: BSD-3-Clause
// Dry runs of graphs whose makespan can be worked out by hand.
#include "schedulers/simulate/simulate.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>

#include "tasks/gemm_graph.hpp"
#include "tests/schedulers/hand_made.hpp"
#include "tests/tasks/plans.hpp"

using namespace heptad;
using namespace heptad::test;

TEST_CASE("seven equal products on two workers take four rounds") {
  hand_made const x(7);
  std::vector<double> const seconds(7, 1.0);
  simulation const s = simulate(x.graph, x.dependencies, seconds, {2, 0});
  CHECK(s.run.seconds == Approx(4));
  CHECK(s.work == Approx(7));
  CHECK(s.critical_path == Approx(1));
  CHECK(busy_seconds(s.run) == std::vector<double>{4, 3});
  CHECK(s.run.records.size() == 7);
}

TEST_CASE("a chain takes its critical path on any number of workers") {
  hand_made x(4);
  x.edge(0, 1).edge(1, 3).edge(0, 2);
  std::vector<double> const seconds{1, 2, 1, 4};
  for (int const workers : {2, 8, 64}) {
    simulation const s = simulate(x.graph, x.dependencies, seconds, {workers, 0});
    CHECK(s.critical_path == Approx(7));
    CHECK(s.run.seconds == Approx(7));
  }
  CHECK(simulate(x.graph, x.dependencies, seconds, {1, 0}).run.seconds == Approx(8));
}

TEST_CASE("the urgent task goes first when workers are short") {
  hand_made x(3);
  x.edge(1, 2);
  std::vector<double> const seconds{2, 1, 2};
  x.graph.tasks[0].priority = 0;
  x.graph.tasks[1].priority = 5;
  CHECK(simulate(x.graph, x.dependencies, seconds, {1, 0}).run.records.front().task == 1);
}

TEST_CASE("tasks with a common lock are simulated one after the other, others beside them") {
  hand_made x(3);
  x.holds(0, {0}).holds(1, {0});
  std::vector<double> const seconds{1, 1, 1};
  simulation const s = simulate(x.graph, x.dependencies, seconds, {3, 0});
  CHECK(s.run.seconds == Approx(2));
}

TEST_CASE("passes share the bandwidth, products do not wait for it") {
  hand_made x(5);
  for (std::size_t t = 0; t < 4; ++t) {
    x.graph.tasks[t].body = combine_step{};
    x.graph.tasks[t].cost.bytes = 10;
  }
  x.graph.tasks[4].body = sequence_step{};
  x.graph.tasks[4].cost.bytes = 1000;
  std::vector<double> const seconds{1, 1, 1, 1, 1.5};
  CHECK(simulate(x.graph, x.dependencies, seconds, {5, 40}).run.seconds == Approx(1.5));
  CHECK(simulate(x.graph, x.dependencies, seconds, {5, 20}).run.seconds == Approx(2));
  CHECK(simulate(x.graph, x.dependencies, seconds, {5, 0}).run.seconds == Approx(1.5));
  simulation const tight = simulate(x.graph, x.dependencies, seconds, {5, 20});
  for (task_record const& r : tight.run.records) CHECK(r.end == Approx(r.task == 4 ? 1.5 : 2));
}

TEST_CASE("a pass alone is as fast as it is alone, and speeds up when another one ends") {
  hand_made x(2);
  for (task& t : x.graph.tasks) {
    t.body = combine_step{};
    t.cost.bytes = 30;
  }
  x.graph.tasks[0].cost.bytes = 10;
  CHECK(simulate(x.graph, x.dependencies, std::vector<double>{1, 3}, {1, 5}).run.seconds == Approx(4));
  // Both ask for 10 bytes/s of 10: half speed until the first has ended after 2 s, then 2 s of the second are left.
  CHECK(simulate(x.graph, x.dependencies, std::vector<double>{1, 3}, {2, 10}).run.seconds == Approx(4));
}

TEST_CASE("costs come from the graph or from the records of a run") {
  hand_made x(2);
  x.graph.tasks[0].cost.seconds = 3;
  x.graph.tasks[1].cost.seconds = 4;
  CHECK(predicted_seconds(x.graph) == std::vector<double>{3, 4});
  run_result const r{{{1, 0, 1.0, 1.5}, {0, 1, 0.0, 2.0}}, 2, 2.0};
  CHECK(measured_seconds(x.graph, r) == std::vector<double>{2.0, 0.5});
}

TEST_CASE("with a slot for every product no node waits for another one's workspace") {
  plan p = make_plan("TTT", "winograd", 64, 64, 64, true);
  p.independent = true;
  std::vector<double> chains;
  for (p.slots = 1; p.slots <= 7; ++p.slots) {
    graph const g = build_gemm_graph(p, {});
    dependencies const d = derive_dependencies(g, false);
    std::vector<double> const seconds(g.tasks.size(), 1.0);
    chains.push_back(simulate(g, d, seconds, {343, 0}).critical_path);
  }
  CHECK(std::ranges::is_sorted(chains, std::greater<>()));
  CHECK(chains.back() == 7);  // the sums of three levels, a product, the updates of three levels
}

TEST_CASE("two workers share fourteen products in seven rounds, though some wait for the sums that others read") {
  graph const g = build_gemm_graph(make_plan("T", "sparse422", 64, 64, 64, false), {});
  std::vector<double> seconds;
  for (task const& t : g.tasks) seconds.push_back(t.name.starts_with("product") ? 1 : 0);
  CHECK(simulate(g, derive_dependencies(g, false), seconds, {2, 0}).run.seconds == Approx(7));
}
