// SPDX-License-Identifier: BSD-3-Clause
// Plans that a caller brings, what takes their place where memory is short, and the bits of deterministic ones.
#include <catch2/catch.hpp>
#include <functional>
#include <random>
#include <vector>

#include <heptad/heptad.hpp>

#include "codelets/cpu/kernel_set.hpp"
#include "src/algorithm/algorithm.hpp"
#include "src/api/context.hpp"
#include "src/api/memory.hpp"
#include "src/plan/planner.hpp"
#include "src/plan/profile.hpp"
#include "tests/environment_variable.hpp"

using namespace heptad;

namespace {

struct square_product {
  explicit square_product(std::int64_t n) : side(n), A(n * n, 1.0), B(n * n, 1.0), C(n * n, 0.0) {}

  std::int64_t side;
  std::vector<double> A, B, C;

  [[nodiscard]] problem shape() const {
    problem x;
    x.m = x.n = x.k = side, x.beta_zero = true;
    return x;
  }
  report multiply(context& workers, plan const& how) {
    return gemm<double>(workers, how, 1, column_major<double const>(A.data(), side, side, side),
                        column_major<double const>(B.data(), side, side, side), 0,
                        column_major(C.data(), side, side, side));
  }
  [[nodiscard]] bool right() const {
    return std::ranges::all_of(C, [this](double c) { return c == static_cast<double>(side); });
  }
};

std::size_t most_bytes = 0;  // of a block of memory
struct short_memory {
  explicit short_memory(std::size_t bytes) {
    most_bytes = bytes;
    set_allocation_gate([](std::size_t asked) { return asked <= most_bytes; });
  }
  ~short_memory() { set_allocation_gate(nullptr); }
};

}  // namespace

TEST_CASE("what takes the place of a brought plan where memory is short is not less accurate") {
  square_product x(2000);
  context workers(2);
  plan const how = make_plan<double>(workers, x.shape(), {.max_error = 2.2});
  REQUIRE(how.growth > 1);
  for (std::size_t const bytes : {how.workspace - 1, how.workspace / 2}) {
    short_memory const gate(bytes);
    report const told = x.multiply(workers, how);
    CHECK(told.fell_back);
    CHECK(told.plan.growth <= how.growth);
    CHECK(x.right());
  }
}

TEST_CASE("a plan that no product has is refused, and C stays as it is") {
  square_product x(512);
  context workers(2);
  plan const good = make_plan<double>(workers, x.shape(), {.force_levels = 1, .algorithm = "strassen"});
  REQUIRE(good.levels.size() == 1);
  auto const message = [&](std::function<void(plan&)> const& spoil) {
    plan bad = good;
    spoil(bad);
    try {
      (void)x.multiply(workers, bad);
    } catch (error const& e) {
      CHECK(e.code() == status::invalid_argument);
      return std::string(e.what());
    }
    return std::string("none");
  };
  CHECK(message([](plan& p) { p.levels.assign(64, p.levels.front()); }) == "plan.levels: 64 must be at most 32");
  CHECK(message([](plan& p) {
          p.levels.assign(9, {"strassen", level_kind::task, p.levels.front().coefficients});
        }) == "plan.levels must not make more than 16777216 products");
  CHECK(message([](plan& p) {
          p.levels.assign(6, {"huang323", level_kind::task, find_algorithm("huang323")});
        }) == "plan.levels: 'huang323' must not cut m = 512, n = 512, k = 512 into more blocks than elements");
  CHECK(message([](plan& p) {
          p.levels.assign(2, p.levels.front());
          p.levels[0].kind = level_kind::fused, p.levels[1].kind = level_kind::task;
        }) == "plan.levels: tasks must come before explicit passes, and these before fused levels");
  CHECK(message([](plan& p) {
          plan_level const level{"fewest444", level_kind::fused, find_algorithm("fewest444")};
          p.levels.assign(2, level);
        }) == "plan.levels: the fused ones must not sum or update 144 blocks at once, but at most 64");
  CHECK(message([](plan& p) { p.strips = 1'000'000'000'000; }) ==
        "plan.strips = 1000000000000 must be between 1 and 65536");
  CHECK(message([](plan& p) { p.slots = 4097; }) == "plan.slots = 4097 must be between 1 and 4096");
  CHECK(x.C == std::vector<double>(x.C.size(), 0.0));
}

TEST_CASE("more slots than a level has products are as many as it has") {
  square_product x(512);
  context workers(2);
  plan how = make_plan<double>(workers, x.shape(), {.force_levels = 1, .algorithm = "strassen"});
  how.levels.assign(4, {"strassen", level_kind::task, find_algorithm("strassen")});
  how.slots = 7;
  std::size_t const bytes = x.multiply(workers, how).workspace;
  CHECK(x.right());
  how.slots = 4096;
  CHECK(x.multiply(workers, how).workspace == bytes);
  CHECK(x.right());
}

TEST_CASE("a deterministic product has the same bits for any number of workers, however small it is") {
  std::mt19937 random(1);
  auto const side = [&random](int most) { return 1 + static_cast<std::int64_t>(random() % most); };
  std::uniform_real_distribution<double> entry(-1, 1);
  // Tasks and calls cost next to nothing here: small products are cut for several workers.
  test::profile_folder const folder;
  machine_profile machine = default_profile();
  machine.kernel = cpu::best_kernel_set<double>().name;
  machine.cores = 4;
  machine.task_seconds = machine.call_seconds = 1e-12;
  save_profile(machine, profile_path());
  context one(1), two(2), three(3);
  REQUIRE(one.state().machine_source() == profile_path());
  for (int i = 0; i < 200; ++i) {
    std::int64_t const m = side(200), n = side(60), k = side(1000);
    std::vector<double> A(m * k), B(k * n), old(m * n, 0.25);
    for (double& x : A) x = entry(random);
    for (double& x : B) x = entry(random);
    auto const multiply = [&](context& workers) {
      std::vector<double> C = old;
      (void)gemm<double>(workers, 1, column_major<double const>(A.data(), m, k, m),
                         column_major<double const>(B.data(), k, n, k), 1, column_major(C.data(), m, n, m),
                         {.deterministic = true});
      return C;
    };
    CAPTURE(m, n, k);
    auto const bits = multiply(one);
    CHECK(multiply(two) == bits);
    CHECK(multiply(three) == bits);
  }
}

TEST_CASE("where levels are forced, all plans to choose from have them") {
  options wishes;
  wishes.force_levels = 1;
  problem shape;
  shape.m = shape.n = shape.k = 600;
  for (plan const& p : rank_plans(element_type::f64, shape, 1, std::size_t{1} << 40, default_profile(), wishes, 8, 8))
    CHECK(p.levels.size() == 1);
}
