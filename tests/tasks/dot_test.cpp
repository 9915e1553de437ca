// SPDX-License-Identifier: BSD-3-Clause
#include <catch2/catch.hpp>

#include "tasks/gemm_graph.hpp"
#include "tests/tasks/plans.hpp"

using namespace heptad;

TEST_CASE("the DOT text has one node a task and one line a dependency or a commuting pair") {
  plan p = test::make_plan("T", "winograd", 64, 64, 65, true);  // the fringe of k commutes with the rest
  graph const g = build_gemm_graph(p, {});
  dependencies const d = derive_dependencies(g, false);
  std::string const dot = to_dot(g, d);
  auto const count = [&](std::string const& text) {
    std::size_t n = 0;
    for (auto at = dot.find(text); at != std::string::npos; at = dot.find(text, at + 1)) ++n;
    return n;
  };
  std::size_t edges = 0;
  for (auto const& s : d.successors) edges += s.size();
  CHECK(count("[label=") == g.tasks.size());
  CHECK(count(" -> ") == edges + count("style=dashed"));
  CHECK(count("style=dashed") > 0);
  CHECK(dot.find("product 1") != std::string::npos);
}
