// SPDX-License-Identifier: BSD-3-Clause
// What the planner chooses for a device, on made-up devices whose best plan is plain to see.
#include "src/plan/device_planner.hpp"

#include <catch2/catch.hpp>

using namespace heptad;
using cuda::choose_device_plan;

namespace {

constexpr std::size_t plenty = std::size_t{120} << 30;

problem square(std::int64_t n, bool beta_zero = true) {
  problem x;
  x.m = x.n = x.k = n;
  x.beta_zero = beta_zero;
  return x;
}

/// Passes cost nothing and products of any size run at one rate: levels always pay.
cuda::device_profile arithmetic_only() {
  cuda::device_profile p;
  p.pass_gbytes = 1e9;
  p.pass_seconds = p.call_seconds = 0;
  p.f64.cubes = {{1, 10, 10}, {100000, 10, 10}};
  p.f64.thins = {{1, 10}, {100000, 10}};
  p.f32 = p.f64;
  return p;
}

int levels_of(cuda::plan const& p) {
  int levels = 0;
  for (auto const& s : p.stages) levels += s.levels;
  return levels;
}

}  // namespace

TEST_CASE("where passes are free, levels pay as the products they save") {
  auto const p = choose_device_plan(element_type::f64, square(4096), plenty, arithmetic_only(), {});
  REQUIRE(levels_of(p) >= 3);
  double const saved = std::pow(7.0 / 8.0, levels_of(p));
  CHECK(p.seconds == Approx(p.classical_seconds * saved).epsilon(0.01));
}

TEST_CASE("where passes are dear, cuBLAS is left alone") {
  auto device = arithmetic_only();
  device.pass_gbytes = 1;
  auto const p = choose_device_plan(element_type::f64, square(4096), plenty, device, {});
  CHECK(p.stages.empty());
  CHECK(p.workspace == 0);
  CHECK(p.seconds == p.classical_seconds);
  CHECK_FALSE(p.candidates.empty());
}

TEST_CASE("a plan keeps to its workspace, and gives up levels for it") {
  auto const device = cuda::default_device_profile();
  std::size_t before = plenty;
  for (std::size_t cap : {std::size_t{8} << 30, std::size_t{1} << 30, std::size_t{100} << 20, std::size_t{0}}) {
    cuda::options wishes;
    wishes.max_workspace = cap;
    auto const p = choose_device_plan(element_type::f32, square(8192), plenty, device, wishes);
    CHECK(p.workspace <= cap);
    CHECK(p.workspace <= before);
    before = p.workspace;
  }
  CHECK(before == 0);
}

TEST_CASE("without a wish the workspace is at most half of what is free") {
  auto const p =
      choose_device_plan(element_type::f64, square(16384), std::size_t{8} << 30, cuda::default_device_profile(), {});
  CHECK(p.workspace_cap == std::size_t{4} << 30);
  CHECK(p.workspace <= p.workspace_cap);
}

TEST_CASE("max_error limits the levels, by the expected growth or by the proved bound") {
  cuda::options wishes;
  wishes.max_error = 3;
  auto const device = arithmetic_only();
  CHECK(levels_of(choose_device_plan(element_type::f64, square(4096), plenty, device, wishes)) == 1);
  wishes.guaranteed = true;
  CHECK(choose_device_plan(element_type::f64, square(4096), plenty, device, wishes).stages.empty());
  wishes.max_error = 1;
  CHECK(choose_device_plan(element_type::f64, square(4096), plenty, device, wishes).growth == 1);
}

TEST_CASE("forced levels are kept wherever the dimensions allow") {
  auto const device = cuda::default_device_profile();
  for (int levels : {0, 1, 2, 3, 4}) {
    cuda::options wishes;
    wishes.force_levels = levels;
    CHECK(levels_of(choose_device_plan(element_type::f64, square(100), plenty, device, wishes)) == levels);
  }
  cuda::options wishes;
  wishes.force_levels = 3;
  CHECK(choose_device_plan(element_type::f64, square(5), plenty, device, wishes).stages.empty());
}

TEST_CASE("small products and TF32 at the power limit are cuBLAS's") {
  auto const device = cuda::default_device_profile();
  CHECK(choose_device_plan(element_type::f64, square(1024), plenty, device, {}).stages.empty());
  CHECK(choose_device_plan(element_type::f32, square(1024), plenty, device, {}).stages.empty());
  cuda::options wishes;
  wishes.arithmetic = cuda::arithmetic::tf32;
  for (int n : {2048, 4096, 8192, 16384})
    CHECK(choose_device_plan(element_type::f32, square(n), plenty, device, wishes).stages.empty());
}

TEST_CASE("double precision ignores narrow arithmetic") {
  cuda::options wishes;
  wishes.arithmetic = cuda::arithmetic::tf32;
  CHECK(choose_device_plan(element_type::f64, square(64), plenty, cuda::default_device_profile(), wishes).arithmetic ==
        cuda::arithmetic::exact);
}

TEST_CASE("options out of range are refused by name") {
  auto const refused = [](cuda::options const& wishes, char const* name) {
    CHECK_THROWS_WITH(choose_device_plan(element_type::f64, square(64), plenty, cuda::default_device_profile(), wishes),
                      Catch::Contains(name));
  };
  cuda::options wishes;
  wishes.max_error = 0.5;
  refused(wishes, "max_error = 0.5");
  wishes = {};
  wishes.algorithm = "abacus";
  refused(wishes, "algorithm = 'abacus'");
}

TEST_CASE("the words of a plan have its stages, device, workspace and reason") {
  auto const p = choose_device_plan(element_type::f64, square(16384), plenty, cuda::default_device_profile(), {});
  auto const text = cuda::explain(p);
  for (auto const& word : {std::string("NVIDIA H200"), std::to_string(p.workspace), p.reason, std::string("winograd")})
    CHECK_THAT(text, Catch::Contains(word));
}
