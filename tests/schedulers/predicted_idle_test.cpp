// SPDX-License-Identifier: BSD-3-Clause
// What the planner's formulas say of waiting workers, against dry runs of the graphs.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "schedulers/simulate/simulate.hpp"
#include "src/plan/cost_model.hpp"
#include "src/plan/planner.hpp"
#include "tasks/gemm_graph.hpp"
#include "tasks/priorities.hpp"
#include "tests/algorithm/known.hpp"
#include "tests/plan/machines.hpp"
#include "tests/tasks/plans.hpp"

using namespace heptad;
using namespace heptad::test;

namespace {

// As the dry runs are: without overheads, and the memory alone holds back two workers at their passes.
machine_profile zen4_without_overheads() {
  machine_profile machine = zen4();
  machine.task_seconds = machine.call_seconds = 0;
  for (pass_rate& rate : machine.passes) rate.gbytes_all = machine.memory_gbytes();
  return machine;
}

double dry_run(plan const& p, machine_profile const& machine) {
  graph g = build_gemm_graph(p, machine);
  dependencies const order = derive_dependencies(g, false);
  prioritize(g, order, p);
  return simulate(g, order, predicted_seconds(g), {p.workers, 1e9 * machine.memory_gbytes()}).run.seconds;
}

struct run_times {
  double predicted, dry;  // seconds
};

/// What the last of the workers is late, as none is in a dry run: 3 % of a product, times log2 of the workers.
double lateness_of(plan const& p, machine_profile const& machine) {
  double longest = 0;
  for (task const& t : build_gemm_graph(p, machine).tasks)
    if (std::holds_alternative<sequence_step>(t.body)) longest = std::max(longest, t.cost.seconds);
  return 0.03 * std::log2(p.workers) * longest;
}

/// Of blocks of size^3.
run_times one_task_level(std::shared_ptr<algorithm const> const& x, int size, bool beta_zero,
                         machine_profile const& machine, int workers, bool independent = false) {
  plan p = make_plan({{x->name, level_kind::task}}, size * x->m, size * x->n, size * x->k, beta_zero);
  p.workers = workers;
  p.independent = independent;
  return {predict(element_type::f64, p.shape, workers, machine, outline_of(p)).seconds,
          dry_run(p, machine) + lateness_of(p, machine)};
}

}  // namespace

TEST_CASE("what the planner predicts for two workers is what a dry run takes, whatever the task levels and slots") {
  machine_profile const machine = zen4_without_overheads();
  using names = std::vector<std::string>;
  for (names const& algorithms : {names{"winograd", "strassen"},
                                  {"strassen", "strassen*strassen"},
                                  {"strassen*strassen", "strassen"},
                                  {"winograd", "winograd", "strassen"}})
    for (int const slots : {1, 2, 3}) {
      std::vector<level_choice> levels;
      outline o;
      o.slots = slots;
      for (std::string const& name : algorithms) {
        levels.push_back({name, level_kind::task});
        o.levels.push_back({&know(find_algorithm(name)), level_kind::task});
      }
      plan p = make_plan(levels, 4096, 4096, 4096, true);
      p.workers = 2;
      p.slots = slots;
      CAPTURE(algorithms, slots);
      CHECK(predict(element_type::f64, p.shape, 2, machine, o).seconds == Approx(dry_run(p, machine)).epsilon(0.025));
    }
}

TEST_CASE("one task level of any algorithm takes two workers nearly what the planner predicts") {
  machine_profile const machine = zen4_without_overheads();
  for (auto const& x : known(29))
    for (bool const beta_zero : {true, false}) {
      auto const [predicted, dry] = one_task_level(x, 256, beta_zero, machine, 2);
      CAPTURE(x->name, beta_zero);
      CHECK(predicted == Approx(dry).epsilon(0.09));
    }
}

TEST_CASE("large products before and after the update of C run in rounds of their own") {
  machine_profile const machine = zen4_without_overheads();
  for (auto const& x : known(29)) {
    auto const [predicted, dry] = one_task_level(x, 1024, true, machine, 2);
    CAPTURE(x->name);
    CHECK(predicted == Approx(dry).epsilon(0.025));
  }
}

TEST_CASE("one task level of any algorithm takes many workers nearly what the planner predicts") {
  machine_profile const machine = zen4_without_overheads();
  for (auto const& x : known(29))
    for (int const workers : {4, 8, 16})
      for (auto const& [beta_zero, independent] : {std::pair{true, false}, {false, false}, {true, true}}) {
        auto const [predicted, dry] = one_task_level(x, 1024, beta_zero, machine, workers, independent);
        CAPTURE(x->name, workers, beta_zero, independent);
        CHECK(predicted == Approx(dry).epsilon(0.1));
      }
}

TEST_CASE("nested task levels take many workers nearly what the planner predicts, in one slot or several") {
  machine_profile const machine = zen4_without_overheads();
  using names = std::vector<std::string>;
  for (names const& algorithms :
       {names{"winograd", "sparse442"}, {"strassen", "sparse332"}, {"winograd", "sparse443"}, {"winograd", "winograd"}})
    for (int const workers : {3, 4, 8})
      for (int const slots : {1, 3}) {
        plan p =
            make_plan({{algorithms[0], level_kind::task}, {algorithms[1], level_kind::task}}, 6144, 6144, 6144, true);
        p.workers = workers;
        p.slots = slots;
        CAPTURE(algorithms, workers, slots);
        CHECK(predict(element_type::f64, p.shape, workers, machine, outline_of(p)).seconds ==
              Approx(dry_run(p, machine)).epsilon(0.12));
      }
}

TEST_CASE("strips of a whole product end with the later worker, those of a task level's products do not") {
  machine_profile const machine = zen4_without_overheads();
  auto const over_dry_run = [&](std::vector<level_choice> const& levels) {
    plan p = make_plan(levels, 2048, 2048, 2048, true);
    p.workers = 2;
    p.strips = 2;
    outline o;
    o.strips = 2;
    for (level_choice const& l : levels) o.levels.push_back({&know(find_algorithm(l.algorithm)), l.kind});
    return predict(element_type::f64, p.shape, 2, machine, o).seconds / dry_run(p, machine);
  };
  CHECK(over_dry_run({}) == Approx(1.03).epsilon(0.002));
  CHECK(over_dry_run({{"strassen", level_kind::task}}) == Approx(1).epsilon(0.01));
}

TEST_CASE("the longest chain of products of a level is what the planner counts") {
  for (char const* name : {"classical", "strassen", "winograd", "sparse332", "sparse443", "strassen*strassen"})
    for (bool const overwrite : {true, false})
      for (bool const independent : {true, false}) {
        algorithm const& x = *find_algorithm(name);
        plan p = make_plan("T", name, 48 * x.m, 48 * x.n, 48 * x.k, overwrite);
        p.independent = independent;
        p.slots = x.rank();
        graph const g = build_gemm_graph(p, zen4());
        std::vector<double> seconds;  // of products alone
        for (task const& t : g.tasks) seconds.push_back(std::holds_alternative<sequence_step>(t.body) ? 1 : 0);
        simulation const s = simulate(g, derive_dependencies(g, true), seconds, {x.rank(), 0});
        product_waits const& waits = waits_of(know(find_algorithm(name)), {overwrite, independent, true, true});
        CAPTURE(name, overwrite, independent);
        CHECK(s.critical_path == waits.chain);
        CHECK(s.critical_path == level_time(waits, {.workers = x.rank()}));
      }
}
