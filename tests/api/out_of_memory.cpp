// SPDX-License-Identifier: BSD-3-Clause
// What is made once and kept, when an allocation fails on the way: for one after the other, until none does.
#include <oneapi/tbb/info.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <fstream>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include <heptad/heptad.hpp>

#include "codelets/cpu/kernel_set.hpp"
#include "src/algorithm/algorithm.hpp"
#include "src/api/context.hpp"
#include "src/api/decisions.hpp"
#include "src/plan/planner.hpp"
#include "tests/environment_variable.hpp"
#include "tests/new_operators.hpp"

using namespace heptad;

namespace {

thread_local long allowed = -1;  // allocations of this thread before one fails; negative: any number

bool succeeds() { return allowed < 0 || allowed-- > 0; }

/// check(whether it threw nothing) after each call.
template <typename Call, typename Check>
void fail_each_allocation(Call const& call, Check const& check) {
  test::allocation_succeeds = succeeds;
  for (long number = 0;; ++number) {
    bool done = true;
    allowed = number;
    try {
      call();
    } catch (std::exception const&) {
      done = false;
    }
    bool const failed = allowed < 0;
    allowed = -1;
    INFO("allocation " << number);
    check(done);
    if (failed) continue;
    CHECK(done);
    CHECK(number > 10);
    break;
  }
  test::allocation_succeeds = nullptr;
}

/// oneTBB does so once, and waits for ever when that found no memory.
void ask_for_topology() { (void)oneapi::tbb::info::default_concurrency(); }

/// As few numbers as a file may have.
machine_profile small_profile() {
  machine_profile p = default_profile();
  p.kernel = cpu::best_kernel_set<double>().name;
  p.passes.resize(1), p.widths.resize(1);
  for (rate_table* rates : {&p.f64, &p.f32}) rates->sides = {64}, rates->product_gflops = {10}, rates->terms.resize(1);
  return p;
}

}  // namespace

TEST_CASE("whichever allocation fails while a folder of algorithms is read, none of them is known, and can be later") {
  test::temporary_folder const folder;
  algorithm mine = *find_algorithm("huang323");
  mine.name = "mine323";
  std::ofstream(folder.path() / "mine323.txt") << to_text(mine);
  std::size_t const before = known_algorithms().size();
  fail_each_allocation([&] { add_algorithms(folder.path().string()); },
                       [&](bool done) {
                         REQUIRE(known_algorithms().size() == before + (done ? 3 : 0));
                         for (char const* name : {"mine323", "mine233", "mine332"})
                           REQUIRE((find_algorithm(name) != nullptr) == done);
                       });
}

namespace {

/// What became of C in calls that failed.
struct outcomes {
  int untouched = 0, overwritten = 0;
};

constexpr std::int64_t n = 200;

/// Products of A and a matrix of ones by fused levels, which may be made before all of A is known. right(C): of A.
template <typename Right>
outcomes multiply_without_memory(std::vector<double> const& A, Right const& right) {
  ask_for_topology();
  std::vector<double> const B(A.size(), 1);
  std::vector<double> C(A.size());
  options fused;
  fused.force_levels = 1, fused.max_workspace = 256 << 20;
  fused.scheduler = scheduler_kind::sequential;
  status failure{};
  outcomes result;
  fail_each_allocation(
      [&] {
        std::ranges::fill(C, 7);
        failure = status::success;
        try {
          context workers(1);
          gemm(workers, 1.0, column_major(A.data(), n, n, n), column_major(B.data(), n, n, n), 0.0,
               column_major(C.data(), n, n, n), fused);
        } catch (error const& e) {
          failure = e.code();
          throw;
        } catch (std::bad_alloc const&) {
          failure = status::out_of_memory;  // of the context
          throw;
        }
      },
      [&](bool done) {
        if (done) {
          REQUIRE(right(C));
        } else if (failure == status::out_of_memory) {
          ++result.untouched;
          REQUIRE(std::ranges::all_of(C, [](double x) { return x == 7; }));
        } else {
          ++result.overwritten;
          REQUIRE(failure == status::internal_error);
        }
      });
  CHECK(result.untouched > 10);
  return result;
}

}  // namespace

TEST_CASE("whichever allocation fails, C is untouched or made, or the error says otherwise") {
  std::vector<double> A(n * n, 1);
  A[100 + 100 * n] = std::nan("");  // C is made, then again
  auto const right = [](std::vector<double> const& C) { return std::isnan(C[100]) && C[101] == n; };
  CHECK(multiply_without_memory(A, right).overwritten > 0);
}

TEST_CASE("where a sample of A is all zeros, C is not made before all of A is known") {
  std::vector<double> A(n * n, 0);
  for (double const element : {0.0, 3.0}) {
    A[100 + 100 * n] = element;
    auto const right = [&](std::vector<double> const& C) { return C[100] == element && C[101] == 0; };
    CHECK(multiply_without_memory(A, right).overwritten == 0);
  }
}

TEST_CASE("where the profile comes from is known, whichever allocation failed when it was first asked for") {
  test::profile_folder const folder;
  save_profile(small_profile(), profile_path());
  ask_for_topology();
  std::optional<context> workers;
  fail_each_allocation(
      [&] {
        workers.reset();
        workers.emplace(1);
        (void)workers->state().machine();
      },
      [&](bool) {
        if (workers) REQUIRE(workers->state().machine_source() == profile_path());
      });
}

TEST_CASE("whichever allocation fails while one of two plans is decided on, the faster one is, if later") {
  test::profile_folder const folder;
  machine_profile const machine = default_profile();
  plan_key const key{element_type::f64, {1500, 1500, 1500}, 1, {}};
  auto const plans = rank_plans(key.type, key.shape, 1, std::size_t{1} << 40, machine, key.wishes, 2, 1);
  REQUIRE(plans.size() == 2);
  for (long number = 0;; ++number) {
    refinements all;
    auto const next = [&] { return all.next(key, machine, [&] { return plans; }); };
    auto const run = [&] {
      auto const trial = next();
      all.tell(key, machine, trial, trial.number == 0 ? 2 : 1);
    };
    for (int i = 1; i < 2 * refinements::turns; ++i) run();
    auto const trial = next();
    test::allocation_succeeds = succeeds;
    allowed = number;
    all.tell(key, machine, trial, 1);
    bool const failed = allowed < 0;
    allowed = -1;
    test::allocation_succeeds = nullptr;
    if (failed) run();
    INFO("allocation " << number);
    auto const last = next();
    CHECK(last.number == -1);
    CHECK(same_choices(last.how, plans[1]));
    if (!failed) break;
    std::filesystem::remove(refined_path());
  }
}
