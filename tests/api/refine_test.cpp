// SPDX-License-Identifier: BSD-3-Clause
// Decisions between two plans: by the seconds that are told, never by a clock.
#include "src/api/refine.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "src/plan/planner.hpp"
#include "tests/api/reference.hpp"
#include "tests/temporary_folder.hpp"

using namespace heptad;

namespace {

/// A profile folder of the test's own.
struct profile_folder {
  profile_folder() { setenv("HEPTAD_PROFILE_DIR", folder.path().c_str(), 1); }
  ~profile_folder() { unsetenv("HEPTAD_PROFILE_DIR"); }
  test::temporary_folder const folder;
};

plan_key key_for(std::int64_t n) {
  plan_key key{element_type::f64, {n, n, n}, 1, {}};
  key.wishes.refine = true;
  return key;
}

std::vector<plan> two_plans(plan_key const& key, machine_profile const& machine) {
  return rank_plans(key.type, key.shape, key.workers, std::size_t{1} << 40, machine, key.wishes, 2, 1);
}

/// Runs trials as a caller would; plan 0 takes `first` seconds, plan 1 `second`. Returns the plan that is left.
plan decide(refinements& all, plan_key const& key, machine_profile const& machine, double first, double second) {
  int asked = 0;
  auto const candidates = [&] { return ++asked, two_plans(key, machine); };
  for (int i = 0; i < 2 * refinements::turns; ++i) {
    auto const trial = all.next(key, machine, candidates);
    CHECK(trial.number == i % 2);
    all.tell(key, machine, trial, trial.number == 0 ? first : second);
  }
  CHECK(asked == 1);
  auto const last = all.next(key, machine, candidates);
  CHECK(last.number == -1);
  return last.how;
}

}  // namespace

TEST_CASE("the two best plans take turns, and the faster one stays") {
  profile_folder const folder;
  machine_profile const machine = default_profile();
  plan_key const key = key_for(1500);
  auto const plans = two_plans(key, machine);
  REQUIRE(plans.size() == 2);
  REQUIRE_FALSE(same_choices(plans[0], plans[1]));
  refinements first_wins, second_wins;
  CHECK(same_choices(decide(first_wins, key, machine, 1, 2), plans[0]));
  std::filesystem::remove(refined_path());
  CHECK(same_choices(decide(second_wins, key, machine, 2, 1), plans[1]));
}

TEST_CASE("a decision is there for the next process, unless the machine is another one") {
  profile_folder const folder;
  machine_profile machine = default_profile();
  plan_key const key = key_for(1600);
  refinements now;
  plan const winner = decide(now, key, machine, 2, 1);
  auto const never = [&]() -> std::vector<plan> { throw std::logic_error("asked again"); };
  refinements later;
  auto const kept = later.next(key, machine, never);
  CHECK(kept.number == -1);
  CHECK(same_choices(kept.how, winner));
  CHECK(kept.how.shape.m == 1600);
  CHECK_THROWS_AS(later.next(key_for(1601), machine, never), std::logic_error);
  plan_key of_starpu = key;
  of_starpu.wishes.scheduler = scheduler_kind::starpu;
  CHECK_THROWS_AS(later.next(of_starpu, machine, never), std::logic_error);
  machine.cpu = "Z80";
  refinements elsewhere;
  CHECK_THROWS_AS(elsewhere.next(key, machine, never), std::logic_error);
}

TEST_CASE("a damaged file of decisions is as good as none") {
  profile_folder const folder;
  machine_profile const machine = default_profile();
  for (char const* text : {"", "{\"machine\":", "[]", "{\"plans\": 3}"}) {
    std::ofstream(refined_path()) << text;
    refinements all;
    plan_key const key = key_for(1400);
    CHECK(all.next(key, machine, [&] { return two_plans(key, machine); }).number == 0);
  }
}

TEST_CASE("refined calls give the product, whichever plan has its turn") {
  profile_folder const folder;
  context workers(2);
  options o;
  o.refine = true;
  o.algorithm = "strassen";  // as a task, explicit or fused level
  o.force_levels = 1;
  std::mt19937 random(1);
  using heptad::test::layout;
  heptad::test::padded_matrix<double> A(300, 210, layout::columns), B(210, 260, layout::columns),
      C0(300, 260, layout::columns), C(300, 260, layout::columns);
  A.fill(random), B.fill(random);
  for (int call = 0; call < 6; ++call) {
    C.set(std::numeric_limits<double>::quiet_NaN());
    report const r = gemm(workers, 1.0, A.read(), B.read(), 0.0, C.view(), o);
    CHECK(heptad::test::largest_error(1.0, A, B, 0.0, C0, C) <= heptad::test::tolerance<double>(r.plan, 1.0, 0.0));
    CHECK((call < 4 || r.plan.reason.find("measured") != std::string::npos));
  }
}
