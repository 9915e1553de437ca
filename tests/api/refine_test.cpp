// SPDX-License-Identifier: BSD-3-Clause
// Decisions between two plans: by the seconds that are told, never by a clock.
#include "src/api/refine.hpp"

#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "src/algorithm/algorithm.hpp"
#include "src/api/context.hpp"
#include "src/api/decisions.hpp"
#include "src/plan/planner.hpp"
#include "tests/api/reference.hpp"
#include "tests/dropin/in_child.hpp"
#include "tests/environment_variable.hpp"

using namespace heptad;

namespace {

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

std::string read_text() {
  std::ifstream file(refined_path());
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The text with another value of the last field of that name.
std::string with(std::string text, std::string const& field, std::string const& value) {
  std::size_t const name = text.rfind('"' + field + "\": ");
  REQUIRE(name != std::string::npos);
  std::size_t const from = name + field.size() + 4;
  std::size_t const end = text[from] == '[' ? text.find(']', from) + 1 : text.find_first_of(",}", from);
  return text.replace(from, end - from, value);
}

}  // namespace

TEST_CASE("the two best plans take turns, and the faster one stays") {
  test::profile_folder const folder;
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
  test::profile_folder const folder;
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
  test::profile_folder const folder;
  machine_profile const machine = default_profile();
  for (char const* text : {"", "{\"machine\":", "[]", "{\"plans\": 3}"}) {
    std::ofstream(refined_path()) << text;
    refinements all;
    plan_key const key = key_for(1400);
    CHECK(all.next(key, machine, [&] { return two_plans(key, machine); }).number == 0);
  }
}

TEST_CASE("a decision for what is no plan of the product is as good as none, and is decided anew") {
  test::profile_folder const folder;
  machine_profile const machine = default_profile();
  plan_key const key = key_for(1500);
  refinements first;
  (void)decide(first, key, machine, 1, 2);
  std::string const text = read_text();
  auto const levels = [](int count, std::string const& algorithm, std::string const& kind) {
    std::string list;
    for (int i = 0; i < count; ++i)
      list += (i > 0 ? ", " : "") + ("{\"algorithm\": \"" + algorithm + "\", \"kind\": \"" + kind + "\"}");
    return list;
  };
  std::string const good = with(text, "strips", "7");
  auto const number_with = [&](std::string const& file) {
    std::ofstream(refined_path()) << file;
    refinements all;
    return all.next(key, machine, [&] { return two_plans(key, machine); }).number;
  };
  CHECK(number_with(good) == -1);
  for (std::string const& bad :
       {with(text, "kernel", "\"of tomorrow\""), with(text, "slots", "0"), with(text, "slots", "-1"),
        with(text, "strips", "0"), with(text, "strips", "4611686018427387904"), with(text, "strips", "1000000000000"),
        with(text, "levels", "3"), with(text, "levels", "[{}]"),
        with(text, "levels", '[' + levels(64, "strassen", "task") + ']'),
        with(text, "levels", '[' + levels(1000, "classical", "task") + ']'),
        with(text, "levels", '[' + levels(1, "strassen", "fused") + ", " + levels(1, "strassen", "task") + ']'),
        with(text, "levels", '[' + levels(1, "fewest444", "fused") + ", " + levels(1, "fewest444", "fused") + ']'),
        with(text, "levels", '[' + levels(1, "of tomorrow", "task") + ']'),
        with(text, "levels", '[' + levels(1, "strassen", "of tomorrow") + ']')}) {
    INFO(bad);
    CHECK(number_with(bad) == 0);
  }
  refinements again;
  (void)decide(again, key, machine, 1, 2);
  CHECK(read_text() == text);
}

TEST_CASE("a plan that was kept has the cap of its product, and is as good as none where it needs more") {
  test::profile_folder const folder;
  machine_profile const machine = default_profile();
  for (std::size_t const megabytes : {1024, 16}) {
    plan_key key = key_for(1500);
    key.wishes.max_workspace = megabytes << 20;
    refinements first, later;
    (void)decide(first, key, machine, 1, 2);
    std::string const text = with(with(read_text(), "order", "\"independent\""), "levels",
                                  "[{\"algorithm\": \"strassen\", \"kind\": \"task\"}]");
    std::ofstream(refined_path()) << text;
    auto const kept = later.next(key, machine, [&] { return two_plans(key, machine); });
    INFO(megabytes << " MiB");
    CHECK(kept.number == (megabytes > 16 ? -1 : 0));
    CHECK(kept.how.workspace_cap == *key.wishes.max_workspace);
  }
}

TEST_CASE("a kept plan for which there is no memory is as good as none") {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  WARN("skipped: the sanitizers need all of the address space");
  return;
#endif
  test::profile_folder const folder;
  context one(1);
  plan_key const key = key_for(1500);
  refinements first;
  (void)decide(first, key, one.state().machine(), 1, 2);
  std::string levels;
  for (int i = 0; i < 8; ++i)
    levels += (i > 0 ? ", " : "") + std::string("{\"algorithm\": \"strassen\", \"kind\": \"task\"}");
  std::string const text = with(read_text(), "levels", '[' + levels + ']');  // 7^8 products
  std::ofstream(refined_path()) << text;
  using heptad::test::layout;
  heptad::test::padded_matrix<double> A(1500, 1500, layout::columns), C(1500, 1500, layout::columns);
  A.set(1), C.set(0);
  auto const multiplies_in_a_gigabyte = [&]() noexcept {
    rlimit const gigabyte{std::size_t{1} << 30, std::size_t{1} << 30};
    if (setrlimit(RLIMIT_AS, &gigabyte) != 0) return false;
    report const r = gemm(one, 1.0, A.read(), A.read(), 1.0, C.view(), key.wishes);
    return C(7, 8) == 1500 && r.plan.levels.size() < 8;
  };
  CHECK(dropin::in_child(multiplies_in_a_gigabyte));
}

TEST_CASE("decisions of several products are kept side by side, and a new one takes the place of the old") {
  test::profile_folder const folder;
  machine_profile const machine = default_profile();
  refinements all;
  for (std::int64_t const n : {1400, 1500, 1600}) (void)decide(all, key_for(n), machine, 1, 2);
  auto const kept = read_decisions(machine);
  REQUIRE(kept.size() == 3);
  std::string const damaged = with(read_text(), "kernel", "\"of tomorrow\"");
  std::ofstream(refined_path()) << damaged;
  refinements later;
  (void)decide(later, key_for(1600), machine, 3, 2);
  auto const now = read_decisions(machine);
  REQUIRE(now.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(now[i].of == kept[i].of);
    CHECK(now[i].seconds == (i < 2 ? 1 : 2));
  }
}

TEST_CASE("a decision whose algorithm lies at a path that is not UTF-8 holds for the process") {
  test::profile_folder const folder;
  machine_profile const machine = default_profile();
  plan_key key = key_for(1500);
  key.wishes.algorithm = (folder.folder.path() / "\xff.txt").string();
  key.wishes.force_levels = 1;
  std::ofstream(key.wishes.algorithm) << to_text(*find_algorithm("strassen"));
  refinements all;
  (void)decide(all, key_for(1400), machine, 1, 2);
  std::string const before = read_text();
  plan const winner = decide(all, key, machine, 2, 1);
  CHECK(same_choices(winner, two_plans(key, machine)[1]));
  CHECK(read_text() == before);
}

TEST_CASE("a plan that was kept is run on operands that are scaled, as the one before") {
  test::profile_folder const folder;
  options o;
  o.refine = true;
  o.force_levels = 1;
  o.max_workspace = std::size_t{100} << 20;
  std::mt19937 random(1);
  using heptad::test::layout;
  heptad::test::padded_matrix<double> A(300, 300, layout::columns), C(300, 300, layout::columns);
  A.fill(random);
  for (std::int64_t i = 0; i < 300; ++i)
    for (std::int64_t j = 0; j < 300; ++j) A(i, j) = std::ldexp(A(i, j), static_cast<int>(-i % 40));
  auto const run = [&](context& workers) { return gemm(workers, 1.0, A.read(), A.read(), 0.0, C.view(), o); };
  context now(2), later(2);
  for (int call = 0; call < 2 * refinements::turns; ++call) CHECK(run(now).scaling != scaling_kind::none);
  report const kept = run(later);
  CHECK(kept.plan.reason.find("before") != std::string::npos);
  CHECK(kept.scaling != scaling_kind::none);
}

TEST_CASE("refined calls give the product, whichever plan has its turn") {
  test::profile_folder const folder;
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
