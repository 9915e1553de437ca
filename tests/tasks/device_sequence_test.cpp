// SPDX-License-Identifier: BSD-3-Clause
// The sequence that a stream runs computes the product: by plain loops on exact integers, for stages of every kind.
#include "tasks/device_sequence.hpp"

#include <catch2/catch.hpp>
#include <set>

#include "src/algorithm/algorithm.hpp"
#include "src/plan/level_schedule.hpp"
#include "tasks/graph.hpp"
#include "tests/tasks/interpreter.hpp"

using namespace heptad;
using namespace heptad::test;

namespace {

struct stage_choice {
  std::string name;
  int levels;
  bool batched, fused = false;
};

cuda::plan make_plan(std::vector<stage_choice> const& stages, std::int64_t m, std::int64_t n, std::int64_t k,
                     bool beta_zero) {
  cuda::plan p;
  p.shape.m = m, p.shape.n = n, p.shape.k = k;
  p.shape.beta_zero = beta_zero;
  std::int64_t bm = 1, bn = 1, bk = 1;
  for (auto const& s : stages) {
    auto const one = find_algorithm(s.name);
    auto all = one;
    for (int l = 1; l < s.levels; ++l) all = std::make_shared<algorithm const>(kronecker(*one, *all));
    p.stages.push_back({s.name, s.levels, s.batched, s.fused, all});
    bm *= all->m, bn *= all->n, bk *= all->k;
  }
  p.core_m = m / bm * bm, p.core_n = n / bn * bn, p.core_k = k / bk * bk;
  return p;
}

void check_product(cuda::plan const& p, unsigned seed) {
  std::mt19937 random(seed);
  problem const& x = p.shape;
  matrix const A = random_integers(x.m, x.k, random), B = random_integers(x.k, x.n, random);
  matrix const C = x.beta_zero ? not_a_number(x.m, x.n) : random_integers(x.m, x.n, random);
  double const alpha = -2, beta = x.beta_zero ? 0 : 3;
  auto const built = build_device_sequence(p);
  graph g;
  g.m = x.m, g.n = x.n, g.k = x.k;
  g.programs = built.programs;
  g.sequences = {built.body};
  g.sequences[0].m = x.m, g.sequences[0].n = x.n, g.sequences[0].k = x.k;
  task whole;
  whole.body = sequence_step{0, {space_A, 0, 0, x.m, x.k}, {space_B, 0, 0, x.k, x.n}, {space_C, 0, 0, x.m, x.n}, 1};
  g.tasks = {whole};
  REQUIRE(interpret(g, {0}, alpha, A, B, beta, C).C.data == classical_product(alpha, A, B, beta, C).data);
}

}  // namespace

TEST_CASE("stages of every kind give the product, fringes included") {
  for (bool const beta_zero : {true, false})
    for (auto const& stages :
         std::vector<std::vector<stage_choice>>{{},
                                                {{"winograd", 1, false}},
                                                {{"winograd", 1, true}},
                                                {{"winograd", 2, true}},
                                                {{"winograd", 2, false}},
                                                {{"strassen", 2, true}},
                                                {{"huang323", 1, true}},
                                                {{"winograd", 1, false}, {"winograd", 2, true}},
                                                {{"strassen", 1, false}, {"huang323", 1, false}},
                                                {{"winograd", 3, true}},
                                                {{"strassen", 1, false, true}},
                                                {{"winograd", 1, false}, {"strassen", 1, false, true}},
                                                {{"strassen", 2, false, true}}}) {
      INFO(stages.size() << " stages, beta_zero " << beta_zero);
      check_product(make_plan(stages, 19, 21, 18, beta_zero), 1);
      check_product(make_plan(stages, 24, 24, 24, beta_zero), 2);
    }
}

TEST_CASE("row-major operands keep their layout in their sums") {
  auto p = make_plan({{"winograd", 2, true}}, 17, 16, 22, true);
  p.shape.a_row_major = true;
  check_product(p, 3);
  auto const built = build_device_sequence(p);
  int rows = 0;
  for (buffer const& b : built.body.buffers) rows += b.order == orientation::row_major;
  CHECK(rows == 49);
}

TEST_CASE("the buffers of a batch are evenly spaced and aligned") {
  auto const built = build_device_sequence(make_plan({{"winograd", 2, true}}, 44, 44, 44, true));
  REQUIRE(built.body.buffers.size() == 3 * 49);
  auto const& buffers = built.body.buffers;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    CHECK(buffers[i].offset * 8 % device_alignment == 0);
    CHECK(buffers[i].ld * 8 % device_alignment == 0);
    if (i % 49 > 0) CHECK(buffers[i].offset - buffers[i - 1].offset == buffers[1].offset - buffers[0].offset);
  }
}

TEST_CASE("product r of a batch uses buffer r of each kind, and nothing else writes them") {
  auto const s = schedule_level(*find_algorithm("winograd"), {update::scaled, false, true, true, true});
  REQUIRE(s.before_update.size() == 7);
  CHECK(s.before_sums.empty());
  CHECK(s.after_update.empty());
  std::set<int> seen;
  for (auto const& p : s.before_update) {
    CHECK(p.a == place{role::sum_of_A, p.number});
    CHECK(p.b == place{role::sum_of_B, p.number});
    CHECK(p.c == place{role::temporary, p.number});
    CHECK(p.how == update::overwrite);
    CHECK(p.coefficient == 1);
    seen.insert(p.number);
  }
  CHECK(seen.size() == 7);
  CHECK(s.sums_A.targets.size() == 7);
  for (auto const& t : s.update_C.targets) CHECK(t.how == update::scaled);
}

TEST_CASE("fused products come level by level, before the fringes") {
  auto const built =
      build_device_sequence(make_plan({{"winograd", 1, false}, {"strassen", 1, false, true}}, 18, 17, 19, true));
  CHECK(built.fused_products == 7);
  CHECK(built.body.steps.size() == built.core_steps + 3);
  std::size_t products = 0;
  for (std::size_t i = 0; i < built.core_steps; ++i)
    products += std::holds_alternative<product_step>(built.body.steps[i]);
  CHECK(products == 49);
}

TEST_CASE("only the last stage may be fused or batched") {
  for (bool const fused : {true, false})
    CHECK_THROWS_AS(
        build_device_sequence(make_plan({{"strassen", 1, !fused, fused}, {"winograd", 1, false}}, 16, 16, 16, true)),
        heptad::error);
}

TEST_CASE("stages that do not divide the core are refused") {
  auto p = make_plan({{"winograd", 2, true}}, 16, 16, 16, true);
  p.core_m = 15;
  CHECK_THROWS_AS(build_device_sequence(p), heptad::error);
}
