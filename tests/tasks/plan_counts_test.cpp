// SPDX-License-Identifier: BSD-3-Clause
// How many products, buffers and elements of workspace a plan takes.
#include <algorithm>
#include <catch2/catch.hpp>

#include "tasks/gemm_graph.hpp"
#include "tests/tasks/plans.hpp"

using namespace heptad;
using namespace heptad::test;

namespace {

std::ptrdiff_t products(graph const& g) {
  return std::ranges::count_if(g.tasks, [](task const& t) { return std::holds_alternative<sequence_step>(t.body); });
}

bool writes_products_into_workspace(graph const& g) {
  return std::ranges::any_of(g.tasks, [](task const& t) {
    auto const* call = std::get_if<sequence_step>(&t.body);
    return call != nullptr && call->c.space != space_C;
  });
}

/// Shared workspace and one scratch a worker, in units of n².
double workspace(graph const& g, int workers, std::int64_t n) {
  return static_cast<double>(workspace_bytes(g, workers, 0)) / 8.0 / static_cast<double>(n * n);
}

plan two_workers(std::string const& kinds, std::int64_t n, bool beta_zero) {
  plan p = make_plan(kinds, "winograd", n, n, n, beta_zero);
  p.workers = p.slots = 2;
  return p;
}

}  // namespace

TEST_CASE("two Winograd task levels are 49 products of one sequence a kind of update") {
  for (bool beta_zero : {false, true}) {
    graph const g = build_gemm_graph(two_workers("TTEF", 1024, beta_zero), {});
    CHECK(products(g) == 49);
    CHECK(g.sequences.size() == (beta_zero ? 2 : 3));  // overwrite, accumulate; scaled
  }
}

TEST_CASE("with beta = 0 one level forms its products in place in C") {
  graph const g = build_gemm_graph(two_workers("T", 512, true), {});
  CHECK_FALSE(writes_products_into_workspace(g));
  CHECK(g.buffers.size() == 8);  // four sums of A, four of B
  CHECK(workspace(g, 2, 512) == Approx(2.0).epsilon(0.1));
}

TEST_CASE("with beta = 0 an explicit level holds its sums only") {
  graph const g = build_gemm_graph(two_workers("E", 512, true), {});
  REQUIRE(g.sequences.size() == 1);
  CHECK(g.sequences[0].buffers.size() == 8);
}

TEST_CASE("with beta ≠ 0 products that need workspace take over sums that are no longer needed") {
  graph const g = build_gemm_graph(two_workers("T", 512, false), {});
  CHECK(g.buffers.size() == 9);
}

TEST_CASE("two task levels and an explicit one in two slots take less than 3.8 n² elements when beta ≠ 0") {
  graph const g = build_gemm_graph(two_workers("TTEF", 4096, false), {});
  CHECK(workspace(g, 2, 4096) == Approx(2.25 + 2 * 9. / 16 + 2 * 9. / 64).epsilon(0.02));
}

TEST_CASE("independent products each have a buffer of their own") {
  plan p = two_workers("T", 512, true);
  p.independent = true;
  CHECK(build_gemm_graph(p, {}).buffers.size() == 12);
}

TEST_CASE("a product without sums comes first, and the update of C last, when beta ≠ 0") {
  graph const g = build_gemm_graph(two_workers("T", 64, false), {});
  std::vector<std::string> names;
  for (task const& t : g.tasks) names.push_back(t.name);
  CHECK(names == std::vector<std::string>{"product 2", "sums of A", "sums of B", "product 5", "product 6", "product 7",
                                          "product 1", "product 3", "product 4", "update of C"});
}

TEST_CASE("every slot of a node has slots of its own on the next task level") {
  // 8 buffers of the root, which forms its products in place; 9 of every node below that adds to C.
  for (int slots : {1, 2, 3}) {
    plan p = two_workers("TTT", 512, true);
    p.slots = slots;
    CHECK(build_gemm_graph(p, {}).buffers.size() == static_cast<std::size_t>(8 + 9 * slots + 9 * slots * slots));
  }
}

TEST_CASE("workspace counts every worker's scratch and packing") {
  graph const g = build_gemm_graph(two_workers("TE", 256, false), {});
  std::size_t const one = workspace_bytes(g, 1, 1000), two = workspace_bytes(g, 2, 1000);
  std::int64_t scratch = 0;
  for (auto const& s : g.sequences) scratch = std::max(scratch, s.scratch_elements);
  CHECK(two - one == 1000 + static_cast<std::size_t>(scratch) * 8);
}
