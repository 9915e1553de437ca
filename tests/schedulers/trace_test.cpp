// SPDX-License-Identifier: BSD-3-Clause
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "schedulers/sequential/sequential.hpp"
#include "tests/schedulers/hand_made.hpp"

using namespace heptad;
using namespace heptad::test;
using nlohmann::json;

namespace {

/// Two workers, three tasks: worker 0 busy 3 of 4 s, worker 1 busy 2 of 4 s.
run_result by_hand() { return {{{0, 0, 0.0, 1.0}, {1, 1, 1.0, 3.0}, {2, 0, 2.0, 4.0}}, 2, 4.0}; }

}  // namespace

TEST_CASE("busy seconds are summed by worker") { CHECK(busy_seconds(by_hand()) == std::vector<double>{3.0, 2.0}); }

TEST_CASE("a worker that found no task was not busy") {
  run_result const r{{{0, 0, 0.0, 1.0}}, 4, 1.0};
  CHECK(busy_seconds(r) == std::vector<double>{1, 0, 0, 0});
}

TEST_CASE("a trace is JSON with one named track a worker and one slice a task") {
  hand_made x(3);
  x.graph.tasks[1].name = "sums of \"A\"\n";
  x.graph.tasks[1].cost = {8e9, 4e9, 1.5};
  json const trace = json::parse("[" + to_trace_events({{{x.graph, by_hand(), 10.0}}}, "dgemm 3 × 3", 4) + "]");
  std::vector<std::string> tracks;
  std::vector<json> slices;
  for (json const& event : trace) {
    if (event.at("ph") == "M" && event.at("name") == "thread_name") tracks.push_back(event.at("args").at("name"));
    if (event.at("ph") == "X") slices.push_back(event);
  }
  CHECK(tracks == std::vector<std::string>{"worker 0", "worker 1"});
  REQUIRE(slices.size() == 3);
  CHECK(slices[1].at("name") == "sums of \"A\"\n");
  CHECK(slices[1].at("tid") == 1);
  CHECK(slices[1].at("pid") == 4);
  CHECK(slices[1].at("ts").get<double>() == Approx(11e6));
  CHECK(slices[1].at("dur").get<double>() == Approx(2e6));
  CHECK(slices[1].at("args").at("flops") == 8e9);
  CHECK(slices[1].at("args").at("bytes") == 4e9);
  CHECK(slices[1].at("args").at("GFLOP/s").get<double>() == Approx(4));
}

TEST_CASE("the look at A and B and the product are one call, with every opening pass where it was run") {
  hand_made look(3), product(3);
  combine_step pass;
  pass.opening = true;
  look.graph.tasks[0].body = product.graph.tasks[0].body = pass;
  look.graph.tasks[1].body = scan_step{};
  look.graph.tasks[2].body = product.graph.tasks[2].body = sequence_step{};
  product.graph.tasks[1].body = combine_step{};
  run_result const ran = by_hand();
  json const trace = json::parse(
      "[" + to_trace_events({{{look.graph, ran, 1.0, true, false}, {product.graph, ran, 6.0, false, true}}}, "", 1) +
      "]");
  std::vector<std::pair<double, std::string>> slices;
  for (json const& event : trace) {
    if (event.at("ph") == "X") slices.emplace_back(event.at("ts").get<double>() / 1e6, event.at("cat"));
    if (event.at("name") == "call") CHECK(event.at("args").at("seconds").get<double>() == Approx(8));
  }
  CHECK(slices == std::vector<std::pair<double, std::string>>{
                      {1, "combine"}, {2, "scan"}, {3, "opening"}, {7, "combine"}, {8, "product"}});
}

TEST_CASE("the sequential scheduler runs in program order on one worker, whatever the priorities") {
  hand_made x = random_graph(50, 7);
  for (std::size_t t = 0; t < 50; ++t) x.graph.tasks[t].priority = static_cast<int>(t * 7 % 50);
  std::vector<int> order;
  calling_executor const work(x.graph, [&](int t, std::byte*) { order.push_back(t); });
  run_result const result = run_sequential(x.graph, work, nullptr);
  CHECK(std::ranges::is_sorted(order));
  CHECK(order.size() == 50);
  CHECK(result.workers == 1);
  CHECK(result.records.size() == 50);
}
