// SPDX-License-Identifier: BSD-3-Clause
// The planner may not build a graph; what it predicts must still be what the graph then takes.
#include <catch2/catch.hpp>

#include "src/algorithm/algorithm.hpp"
#include "src/plan/planner.hpp"
#include "tasks/gemm_graph.hpp"
#include "tests/plan/machines.hpp"

using namespace heptad;

namespace {

plan with(std::vector<std::pair<char const*, level_kind>> const& levels, problem const& shape, int workers) {
  plan p;
  p.shape = shape;
  p.workers = workers;
  p.product_buffer = false;
  for (auto const& [name, kind] : levels) p.levels.push_back({name, kind, find_algorithm(name)});
  return p;
}

}  // namespace

TEST_CASE("the predicted workspace covers the graph's, and not by much") {
  auto const T = level_kind::task, E = level_kind::explicit_passes, F = level_kind::fused;
  std::vector<std::vector<std::pair<char const*, level_kind>>> const plans{
      {{"winograd", E}},
      {{"winograd", E}, {"winograd", E}, {"strassen", F}},
      {{"winograd", T}},
      {{"winograd", T}, {"winograd", T}},
      {{"winograd", T}, {"winograd", T}, {"winograd", T}, {"strassen", F}},
      {{"winograd", T}, {"winograd", T}, {"winograd", E}, {"strassen", F}},
      {{"strassen", T}, {"strassen", E}},
      {{"huang323", T}, {"winograd", E}},
  };
  for (auto const& levels : plans)
    for (bool beta_zero : {true, false})
      for (auto const& [slots, independent] : {std::pair{1, false}, {2, false}, {3, true}}) {
        problem shape{1536, 1536, 1536};
        shape.beta_zero = beta_zero;
        plan p = with(levels, shape, 2);
        p.slots = slots;
        p.independent = independent;
        complete_plan(p, test::zen4());
        graph const g = build_gemm_graph(p, test::zen4());
        double const without_packing = static_cast<double>(workspace_bytes(g, p.workers, 0));
        CAPTURE(levels.size(), levels.front().first, beta_zero, slots, independent, p.workspace, without_packing);
        CHECK(static_cast<double>(p.workspace) >= without_packing);
        CHECK(static_cast<double>(p.workspace) <= 1.6 * without_packing + 40e6);
      }
}
