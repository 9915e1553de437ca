// SPDX-License-Identifier: BSD-3-Clause
// The graph computes the product: run by plain loops on exact integers, in program order and in random orders that its
// dependencies allow, and compared with the definition.
#include "tasks/gemm_graph.hpp"

#include <catch2/catch.hpp>
#include <numeric>

#include "src/plan/device_blocks.hpp"
#include "tests/algorithm/known.hpp"
#include "tests/tasks/interpreter.hpp"
#include "tests/tasks/plans.hpp"

using namespace heptad;
using namespace heptad::test;

namespace {

/// Small tiles and strips appear only in large problems: these rates do not matter, the sizes do.
machine_profile const machine{};

void check_product(plan const& p, unsigned seed, int orders = 3, tiling cut = tiling::strips) {
  INFO(describe(p) << ", seed " << seed);
  std::mt19937 random(seed);
  matrix const A = random_integers(p.shape.m, p.shape.k, random), B = random_integers(p.shape.k, p.shape.n, random);
  double const beta = p.shape.beta_zero ? 0 : (seed % 2 == 0 ? 1 : 3), alpha = seed % 3 == 0 ? -2 : 1;
  matrix const C =
      p.shape.beta_zero ? not_a_number(p.shape.m, p.shape.n) : random_integers(p.shape.m, p.shape.n, random);
  matrix const expected = classical_product(alpha, A, B, beta, C);

  graph const g = build_gemm_graph(p, machine, cut);
  REQUIRE(interpret(g, program_order(g), alpha, A, B, beta, C).C.data == expected.data);
  for (bool ordered : {false, true}) {
    dependencies const d = derive_dependencies(g, ordered);
    for (int i = 0; i < orders; ++i) {
      auto const order = random_order(d, random);
      REQUIRE(order.size() == g.tasks.size());
      REQUIRE(interpret(g, order, alpha, A, B, beta, C).C.data == expected.data);
    }
  }
}

/// What the task touched, element by element, against what it declared.
bool declares_what_it_touches(task const& t, touched_elements const& touched) {
  touched_elements declared;
  for (heptad::access const& a : t.accesses)
    for (std::int64_t j = 0; j < a.where.cols; ++j)
      for (std::int64_t i = 0; i < a.where.rows; ++i)
        declared[a.where.space][{a.where.row + i, a.where.col + j}] |= a.mode == access_mode::read    ? 1
                                                                       : a.mode == access_mode::write ? 2
                                                                                                      : 3;
  if (touched.size() != declared.size()) return false;
  for (auto const& [space, elements] : declared) {
    auto const found = touched.find(space);
    if (found == touched.end() || found->second.size() != elements.size()) return false;
    for (auto const& [where, modes] : elements) {
      auto const element = found->second.find(where);
      if (element == found->second.end()) return false;
      // `write` allows reading too; the other modes must be met exactly.
      if ((element->second & modes) != modes || (modes == 1 && element->second != 1)) return false;
    }
  }
  return true;
}

}  // namespace

TEST_CASE("every algorithm gives the product as a task, explicit or fused level") {
  for (auto const& x : known(15))
    for (auto kind : {level_kind::task, level_kind::explicit_passes, level_kind::fused})
      for (bool beta_zero : {false, true})
        for (bool independent : {false, true}) {
          plan p = make_plan(std::vector<level_choice>{{x->name, kind}}, 2 * x->m + 1, 3 * x->n + 1, 2 * x->k + 1,
                             beta_zero);
          p.independent = independent;
          check_product(p, 6);
        }
}

TEST_CASE("plans in blocks for devices, with or without Winograd above, give the product") {
  for (block_counts const counts : {block_counts{2, 3, 2, 0}, {3, 2, 1, 0}, {2, 2, 2, 1}, {1, 1, 1, 0}})
    for (int const devices : {1, 4})
      for (bool const beta_zero : {false, true}) {
        problem shape;
        shape.m = 31, shape.n = 26, shape.k = 37, shape.beta_zero = beta_zero;
        check_product(plan_in_blocks(element_type::f64, shape, counts, devices), 4, 3, tiling::cells);
      }
}

TEST_CASE("the larger algorithms give the product as a task, explicit or fused level") {
  for (auto const& x : known())
    for (auto kind : {level_kind::task, level_kind::explicit_passes, level_kind::fused}) {
      if (x->rank() <= 15) continue;
      bool const beta_zero = x->m != x->n;  // both, over the orders of the sides
      check_product(make_plan(std::vector<level_choice>{{x->name, kind}}, x->m + 1, 2 * x->n, x->k, beta_zero), 6, 0);
      check_product(make_plan(std::vector<level_choice>{{x->name, kind}}, x->m, x->n + 1, 2 * x->k, !beta_zero), 6, 0);
    }
}

TEST_CASE("levels of every kind compose") {
  for (char const* algorithm : {"winograd", "strassen"})
    for (char const* kinds : {"TT", "TE", "TF", "EE", "EF", "FF", "TTE", "TTF", "TEF", "TEE", "EEF", "TFF", "TTT"})
      for (bool beta_zero : {false, true})
        for (int slots : {1, 2, 3}) {
          plan p = make_plan(kinds, algorithm, 17, 19, 21, beta_zero);
          p.slots = slots;
          p.workers = 2;
          check_product(p, static_cast<unsigned>(slots), 2);
        }
}

TEST_CASE("two task levels, an explicit and a fused one give the product") {
  for (bool beta_zero : {false, true}) {
    plan p = make_plan("TTEF", "winograd", 33, 32, 35, beta_zero);
    p.workers = p.slots = 2;
    check_product(p, 12);
  }
}

TEST_CASE("different algorithms compose from level to level") {
  for (bool beta_zero : {false, true})
    check_product(make_plan({{"huang323", level_kind::task},
                             {"winograd", level_kind::explicit_passes},
                             {"strassen", level_kind::fused}},
                            25, 27, 17, beta_zero),
                  5);
}

TEST_CASE("random plans give the product in random orders") {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    check_product(random_plan(random), seed, 2);
  }
}

TEST_CASE("every algorithm gives the product of sides that are filled up with zeros") {
  for (auto const& x : known(15))
    for (auto kind : {level_kind::task, level_kind::explicit_passes, level_kind::fused})
      for (bool const beta_zero : {false, true})
        for (std::int64_t const lacking : {1, 2, 5}) {
          plan p = make_plan(std::vector<level_choice>{{x->name, kind}, {"strassen", level_kind::fused}}, 4 * x->m,
                             4 * x->n, 4 * x->k, beta_zero);
          auto const take = [&](std::int64_t& side, std::int64_t blocks) { side -= std::min(lacking, 2 * blocks - 1); };
          take(p.shape.m, x->m), take(p.shape.n, x->n), take(p.shape.k, x->k);
          p.pads = {true, true, true};
          check_product(p, 6, 1);
        }
}

TEST_CASE(
    "a core that reaches beyond a side is an error unless the plan pads it, by less than a block, and in strips") {
  plan p = make_plan("TF", "winograd", 16, 16, 15, true);
  p.core_k = 16;
  auto const outside = Catch::Contains("the core must lie in the problem");
  CHECK_THROWS_WITH(build_gemm_graph(p, machine), outside);
  p.pads.k = true;
  CHECK_NOTHROW(build_gemm_graph(p, machine));
  CHECK_THROWS_WITH(build_gemm_graph(p, machine, tiling::cells), outside);
  p.core_k = 20;
  CHECK_THROWS_WITH(build_gemm_graph(p, machine), outside);
}

TEST_CASE("random plans in cells give the product in random orders") {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    check_product(without_zeros(random_plan(random)), seed, 2, tiling::cells);
  }
}

TEST_CASE("in cells the blocks of C and of every buffer that tasks touch are equal or apart, and cover C") {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    plan const p = without_zeros(random_plan(random));
    INFO(describe(p) << ", seed " << seed);
    std::vector<block> cells;
    for (task const& t : build_gemm_graph(p, machine, tiling::cells).tasks)
      for (heptad::access const& a : t.accesses)
        if (a.where.space >= space_C && std::ranges::find(cells, a.where) == cells.end()) cells.push_back(a.where);
    std::int64_t covered = 0;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (cells[i].space == space_C) covered += cells[i].rows * cells[i].cols;
      for (std::size_t j = 0; j < i; ++j) REQUIRE_FALSE(cells[i].overlaps(cells[j]));
    }
    CHECK(covered == p.shape.m * p.shape.n);
  }
}

TEST_CASE("tasks touch exactly the elements that they declare") {
  for (unsigned seed = 1000; seed < 1060; ++seed) {
    std::mt19937 random(seed);
    plan const p = random_plan(random);
    INFO(describe(p));
    matrix const A = random_integers(p.shape.m, p.shape.k, random), B = random_integers(p.shape.k, p.shape.n, random);
    double const beta = p.shape.beta_zero ? 0 : 3;
    graph const g = build_gemm_graph(p, machine);
    run const r = interpret(g, program_order(g), 1, A, B, beta, random_integers(p.shape.m, p.shape.n, random), true);
    for (std::size_t t = 0; t < g.tasks.size(); ++t) {
      INFO(g.tasks[t].name);
      REQUIRE(declares_what_it_touches(g.tasks[t], r.touched[t]));
    }
  }
}

TEST_CASE("large passes are cut into tiles, large products into strips, and still give the product") {
  for (bool row_major : {false, true}) {
    plan p = make_plan("T", "winograd", 210, 230, 194, false);
    p.shape.a_row_major = p.shape.b_row_major = row_major;
    p.workers = 3;
    graph const g = build_gemm_graph(p, machine);
    CHECK(std::ranges::any_of(g.tasks, [](task const& t) { return t.name == "sums of A [2/2]"; }));
    check_product(p, 4, 1);
  }
  plan p = make_plan("", "winograd", 200, 210, 190, true);
  p.strips = 3;
  CHECK(build_gemm_graph(p, machine).tasks.size() == 3);
  check_product(p, 4, 1);
}

TEST_CASE("a graph in cells has no opening passes inside of products: any worker may run these") {
  plan const p = make_plan("E", "strassen", 64, 64, 64, true);
  for (tiling const cut : {tiling::strips, tiling::cells}) {
    int opening = 0;
    for (sequence const& s : build_gemm_graph(p, machine, cut).sequences)
      for (step const& each : s.steps)
        if (auto const* const pass = std::get_if<combine_step>(&each)) opening += pass->opening;
    CHECK((opening > 0) == (cut == tiling::strips));
  }
}

TEST_CASE("a pass is cut for the workers that its node shares with those beside it") {
  plan p = make_plan("TT", "strassen", 2048, 2048, 2048, true);
  p.workers = 16;
  for (int const slots : {1, 2, 4}) {
    p.slots = slots;
    int outer = 0, inner = 0;  // tiles of the pass over A, and of that of the first product
    for (task const& t : build_gemm_graph(p, machine).tasks) {
      outer += t.name.starts_with("sums of A [");
      inner += t.name.starts_with("sums of A 1 [");
    }
    CAPTURE(slots);
    CHECK(outer >= p.workers);
    CHECK(inner >= p.workers / slots);
    if (slots > 1) CHECK(inner < p.workers);
  }
}

TEST_CASE("a product is so many tasks as it has strips, whatever the workers") {
  for (char const* kinds : {"", "E", "F", "EF"})
    for (int strips : {1, 2, 3, 4, 6}) {
      plan p = make_plan(kinds, "winograd", 400, 320, 288, strips % 2 == 0);
      p.strips = strips;
      p.workers = 5;
      graph const g = build_gemm_graph(p, machine);
      INFO(describe(p) << ", " << strips << " strips");
      CHECK(g.tasks.size() == static_cast<std::size_t>(strips));
      CHECK(derive_dependencies(g, false).locks == 0);
    }
  plan cut = make_plan("TF", "winograd", 256, 256, 256, true);
  cut.strips = 2;
  CHECK(std::ranges::count_if(build_gemm_graph(cut, machine).tasks,
                              [](task const& t) { return std::holds_alternative<sequence_step>(t.body); }) == 14);
  for (int strips : {4, 6}) {
    plan p = make_plan("F", "strassen", 70, 90, 50, true);
    p.strips = strips;
    check_product(p, 5, 1);
  }
}

TEST_CASE("without an inner dimension C is only scaled") {
  for (bool beta_zero : {false, true}) {
    plan const p = make_plan("", "winograd", 5, 7, 0, beta_zero);
    CHECK(build_gemm_graph(p, machine).tasks.size() == 1);
    check_product(p, 3);
  }
}

TEST_CASE("an empty C needs no task") {
  CHECK(build_gemm_graph(make_plan("", "winograd", 0, 7, 4, false), machine).tasks.empty());
  CHECK(build_gemm_graph(make_plan("", "winograd", 7, 0, 4, false), machine).tasks.empty());
}

TEST_CASE("a plan that breaks the rules of the graph is refused") {
  plan mixed = make_plan({{"winograd", level_kind::fused}, {"winograd", level_kind::task}}, 8, 8, 8, false);
  CHECK_THROWS_AS(build_gemm_graph(mixed, machine), error);
  plan odd = make_plan("T", "winograd", 8, 8, 8, false);
  odd.core_n = 7;
  CHECK_THROWS_AS(build_gemm_graph(odd, machine), error);
  plan row_major = make_plan("T", "winograd", 8, 8, 8, false);
  row_major.shape.c_row_major = true;
  CHECK_THROWS_AS(build_gemm_graph(row_major, machine), error);
}

TEST_CASE("every task has a cost and priorities follow program order") {
  plan p = make_plan("TEF", "winograd", 65, 66, 67, false);
  p.workers = 2;
  graph const g = build_gemm_graph(p, machine);
  for (std::size_t t = 0; t < g.tasks.size(); ++t) {
    CHECK(g.tasks[t].cost.seconds > 0);
    CHECK(g.tasks[t].cost.bytes > 0);
    if (t > 0) CHECK(g.tasks[t].priority < g.tasks[t - 1].priority);
  }
}

TEST_CASE("fused levels that would sum more blocks than a codelet takes are refused") {
  plan p;
  p.shape = {.m = 81, .n = 81, .k = 16};
  p.core_m = p.core_n = 81;
  p.core_k = 16;
  for (int level = 0; level < 2; ++level)
    p.levels.push_back({"huang323", level_kind::fused, find_algorithm("huang323")});
  CHECK_NOTHROW(build_gemm_graph(p, machine));
  for (int level = 0; level < 2; ++level) p.levels.push_back(p.levels.front());
  CHECK_THROWS_WITH(build_gemm_graph(p, machine), Catch::Contains("sum too many blocks"));
}
