// SPDX-License-Identifier: BSD-3-Clause
// The planner builds no graph; what it predicts must still be what the graph then takes and costs.
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <type_traits>

#include "codelets/cpu/product.hpp"
#include "src/algorithm/algorithm.hpp"
#include "src/plan/planner.hpp"
#include "src/plan/prices.hpp"
#include "tasks/gemm_graph.hpp"
#include "tasks/scan_graph.hpp"
#include "tests/codelets/processors.hpp"
#include "tests/plan/machines.hpp"

using namespace heptad;

namespace {

using choices = std::vector<std::pair<char const*, level_kind>>;

constexpr auto T = level_kind::task, E = level_kind::explicit_passes, F = level_kind::fused;

choices const plans[] = {
    {{"winograd", E}},
    {{"winograd", E}, {"winograd", E}, {"strassen", F}},
    {{"winograd", T}},
    {{"winograd", T}, {"winograd", T}},
    {{"winograd", T}, {"winograd", T}, {"winograd", T}, {"strassen", F}},
    {{"winograd", T}, {"winograd", T}, {"winograd", E}, {"strassen", F}},
    {{"strassen", T}, {"strassen", E}},
    {{"huang323", T}, {"winograd", E}},
    {{"huang233", E}, {"huang332", E}, {"huang323", F}},
    {{"strassen", F}, {"huang323", F}},
    {{"huang332", F}},
};

plan with(choices const& levels, problem const& shape, int workers) {
  plan p;
  p.shape = shape;
  p.workers = workers;
  for (auto const& [name, kind] : levels) p.levels.push_back({name, kind, find_algorithm(name)});
  return p;
}

/// Every plan above in every order, on shapes with and without fringes, in both layouts.
template <typename Check>
void for_each_plan(int workers, Check const& check) {
  std::mt19937 random(3);
  auto const below = [&](int n) { return std::uniform_int_distribution<int>(0, n - 1)(random); };
  for (choices const& levels : plans)
    for (bool const beta_zero : {true, false})
      for (auto const& [slots, independent] : {std::pair{1, false}, {2, false}, {3, true}}) {
        problem shape{432 * (1 + below(3)), 432 * (1 + below(3)), 432 * (1 + below(3))};
        if (below(2) == 0) shape.m += below(7), shape.n += below(7), shape.k += below(7);
        shape.beta_zero = beta_zero;
        shape.a_row_major = below(2) == 0;
        shape.b_row_major = below(2) == 0;
        plan p = with(levels, shape, workers);
        p.type = below(2) == 0 ? element_type::f32 : element_type::f64;
        p.product_buffer = below(2) == 0;
        p.slots = slots;
        p.independent = independent;
        p.pads = {below(2) == 0, below(2) == 0, below(2) == 0};
        complete_plan(p, test::zen4());
        CAPTURE(levels.size(), levels.front().first, shape.m, shape.n, shape.k, beta_zero, slots, independent);
        check(p);
      }
}

}  // namespace

TEST_CASE("the predicted buffers are those of the graph, to the byte") {
  for (int const workers : {1, 2, 3})
    for_each_plan(workers, [&](plan const& p) {
      estimate const e = predict(p.type, p.shape, p.workers, test::zen4(), outline_of(p));
      graph const g = build_gemm_graph(p, test::zen4());
      CHECK(e.buffers == static_cast<double>(workspace_bytes(g, workers, 0)));
      CHECK(p.workspace == static_cast<std::size_t>(e.buffers + e.packing));
    });
}

TEMPLATE_TEST_CASE("no kernel set asks for more packing than was predicted", "", float, double) {
  machine_profile machine = test::zen4();
  machine.l2_bytes = static_cast<std::size_t>(std::max(sysconf(_SC_LEVEL2_CACHE_SIZE), 256L << 10));
  constexpr int sides[] = {1, 16, 47, 100, 321, 336, 500, 672, 1000, 1313, 4000};
  for (int const m : sides)
    for (int const n : sides)
      for (int const k : {1, 15, 16, 255, 300, 700, 3000})
        for (bool const gathers : {false, true}) {
          plan p = with({{"strassen", F}}, {2 * m, 2 * n, 2 * k}, 1);
          p.type = std::is_same_v<TestType, float> ? element_type::f32 : element_type::f64;
          p.product_buffer = gathers;
          double const predicted = predict(p.type, p.shape, 1, machine, outline_of(p)).packing;
          for (cpu::kernel_set<TestType> const* set : cpu::kernel_sets<TestType>()) {
            if (!set->available()) continue;
            CAPTURE(m, n, k, gathers, set->name);
            auto const how = gathers ? cpu::variant::ab : cpu::variant::abc;
            cpu::kernel_set<TestType> there = *set;
            for (auto const processor : test::every_processor) {
              there.processor = processor;
              REQUIRE(static_cast<double>(product_scratch(there, m, n, k, how)) <= predicted);
            }
          }
        }
}

TEMPLATE_TEST_CASE("fringes ask for no more packing than was predicted", "", float, double) {
  machine_profile machine = test::zen4();
  machine.l2_bytes = static_cast<std::size_t>(std::max(sysconf(_SC_LEVEL2_CACHE_SIZE), 256L << 10));
  for (int const m : {64, 751, 753, 3001})
    for (int const n : {65, 753, 6974})
      for (int const k : {63, 703, 753, 2001})
        for (bool const gathers : {false, true})
          for (choices const& levels : {choices{{"winograd", F}}, {{"winograd", E}}, {{"huang323", F}}}) {
            if (gathers && levels.front().second != F) continue;  // no such plan is made
            plan p = with(levels, {m, n, k}, 1);
            p.type = std::is_same_v<TestType, float> ? element_type::f32 : element_type::f64;
            p.product_buffer = gathers;
            complete_plan(p, machine);
            double const predicted = predict(p.type, p.shape, 1, machine, outline_of(p)).packing;
            auto const how = gathers ? cpu::variant::ab : cpu::variant::abc;
            graph const g = build_gemm_graph(p, machine);
            for (cpu::kernel_set<TestType> const* set : cpu::kernel_sets<TestType>()) {
              if (!set->available()) continue;
              CAPTURE(m, n, k, gathers, levels.front().first, set->name);
              for (sequence const& s : g.sequences) {
                if (s.steps.size() > 1) continue;  // of the core
                block const& c = std::get<product_step>(s.steps.front()).c.front().where;
                REQUIRE(static_cast<double>(product_scratch(*set, c.rows, c.cols, s.k, how)) <= predicted);
              }
            }
          }
}

TEST_CASE("on one worker the predicted time is the sum of the costs of the tasks, and of the look at what they skip") {
  machine_profile machine = test::server();
  machine.task_seconds = 0;
  for_each_plan(1, [&](plan const& p) {
    double seconds = 0;
    graph const product = build_gemm_graph(p, machine);
    for (task const& t : product.tasks) seconds += t.cost.seconds;
    double scans = 0;
    for (task const& t : build_opening_graph(p, machine, product).work.tasks)
      if (std::holds_alternative<scan_step>(t.body)) scans += t.cost.seconds;
    bool const fused = !p.levels.empty() && p.levels.front().kind == level_kind::fused;
    seconds += fused ? prices::look_of_fused(scans, p.shape.beta_zero) : scans;
    CHECK(predict(p.type, p.shape, 1, machine, outline_of(p)).seconds == Approx(seconds).epsilon(1e-9));
  });
}

TEST_CASE("the products of a graph lie where the planner says that the innermost passes leave them") {
  machine_profile const machine = test::zen4();
  auto const operands = [&](plan p, int workers) {
    p.workers = workers;
    complete_plan(p, machine);
    return build_gemm_graph(p, machine).operands;
  };
  plan const one_level = with({{"winograd", T}, {"strassen", F}}, {1024, 1024, 1024}, 2);
  CHECK(operands(one_level, 1) == distance::passed);
  CHECK(operands(one_level, 2) == distance::in_memory);
  CHECK(operands(with({{"winograd", T}, {"strassen", F}}, {512, 512, 512}, 2), 2) == distance::passed);
  CHECK(operands(with({{"winograd", T}, {"winograd", E}}, {1024, 1024, 1024}, 2), 2) == distance::passed);
  CHECK(operands(with({{"strassen", F}}, {1024, 1024, 1024}, 2), 2) == distance::in_cache);
  CHECK(operands(with({}, {1024, 1024, 1024}, 2), 2) == distance::in_cache);
}
