// SPDX-License-Identifier: BSD-3-Clause
// What the planner chooses for a device, on made-up devices whose best plan is plain to see.
#include "src/plan/device_planner.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

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

namespace {

/// Fused products run at the rate of cuBLAS.
cuda::device_profile with_fused() {
  auto p = arithmetic_only();
  p.pass_seconds = 1;  // passes are dear
  p.f32.fused = {{1, 10}, {100000, 10}};
  return p;
}

}  // namespace

TEST_CASE("where passes are dear and fused products are not, one fused level is taken") {
  auto const p = choose_device_plan(element_type::f32, square(4096), plenty, with_fused(), {});
  REQUIRE(p.stages.size() == 1);
  CHECK((p.stages[0].fused && p.stages[0].name == "strassen"));
  CHECK(p.seconds == Approx(p.classical_seconds * 7 / 8));
  CHECK(p.accumulation == cuda::accumulation::ordered);
  CHECK(p.workspace > 0);
  CHECK_THAT(cuda::explain(p), Catch::Contains("strassen fused") && Catch::Contains("ordered, one launch"));
}

TEST_CASE("a fused level needs no workspace when it may have none") {
  cuda::options wishes;
  wishes.max_workspace = 0;
  auto const p = choose_device_plan(element_type::f32, square(4096), plenty, with_fused(), wishes);
  REQUIRE(p.stages.size() == 1);
  CHECK(p.workspace == 0);
  CHECK(p.accumulation == cuda::accumulation::streams);
  CHECK_THAT(cuda::explain(p), Catch::Contains("streams, a launch each"));
  wishes.accumulation = cuda::accumulation::ordered;  // whose counters are workspace
  CHECK(choose_device_plan(element_type::f32, square(4096), plenty, with_fused(), wishes).stages.empty());
  wishes.accumulation = cuda::accumulation::atomic;
  CHECK(choose_device_plan(element_type::f32, square(4096), plenty, with_fused(), wishes).accumulation ==
        cuda::accumulation::atomic);
}

TEST_CASE("a plan lacks memory where another would be made with all that the device has, and only there") {
  auto const lacks = [](element_type type, cuda::device_profile device, std::size_t free, cuda::options const& wishes) {
    device.memory_bytes = plenty;
    return lacks_memory(choose_device_plan(type, square(4096), free, device, wishes), device, wishes);
  };
  cuda::options any, forced, exact, capped;
  forced.force_levels = 2;
  exact.max_error = 1;
  capped.max_workspace = 0;
  for (auto const& wishes : {any, forced}) {
    CHECK_FALSE(lacks(element_type::f64, arithmetic_only(), plenty, wishes));
    CHECK(lacks(element_type::f64, arithmetic_only(), 0, wishes));
  }
  CHECK_FALSE(lacks(element_type::f64, arithmetic_only(), 0, exact));
  CHECK_FALSE(lacks(element_type::f64, arithmetic_only(), 0, capped));
  CHECK(lacks(element_type::f32, with_fused(), 1 << 10, any));  // no room for the counters: by streams
  // Levels that would gain, but less than they must.
  auto device = arithmetic_only();
  auto const best = [&device] {
    auto const p = choose_device_plan(element_type::f64, square(4096), plenty, device, {});
    return p.classical_seconds / std::ranges::min(p.candidates, {}, &candidate::seconds).seconds;
  };
  for (device.pass_gbytes = 1; best() <= 1.005;) device.pass_gbytes *= 1.01;
  REQUIRE(best() < 1.02);
  CHECK_FALSE(lacks(element_type::f64, device, 0, any));
}

TEST_CASE("products that wait for each other leave a device idle that has more multiprocessors than they have tiles") {
  auto device = with_fused();
  cuda::options wishes;
  wishes.accumulation = cuda::accumulation::streams;
  auto const plan = [&] { return choose_device_plan(element_type::f32, square(4096), plenty, device, wishes); };
  device.multiprocessors = 128;  // the tiles of a product of 2048
  CHECK_FALSE(plan().stages.empty());
  device.multiprocessors = 200;
  CHECK(plan().stages.empty());
  wishes.accumulation = cuda::accumulation::ordered;
  CHECK_FALSE(plan().stages.empty());
}

TEST_CASE("between explicit levels and none, workspace decides how many are fused") {
  auto device = with_fused();
  device.pass_seconds = 0;  // passes are free, so the more levels the better
  cuda::options wishes;
  wishes.max_workspace = std::size_t{600} << 20;  // room for one level in turn: two matrices, but not for two
  auto const p = choose_device_plan(element_type::f32, square(8192), plenty, device, wishes);
  REQUIRE(p.stages.size() == 2);
  CHECK((!p.stages[0].fused && p.stages[1].fused));
  CHECK(p.workspace <= *wishes.max_workspace);
}

TEST_CASE("doubles have fused levels too, in the tile that was measured best near their size") {
  auto device = with_fused();
  device.f64.fused = {{64, 5, 1}, {512, 10, 2}, {4096, 10, 0}};
  auto const tile = [&](std::int64_t n) {
    auto const p = choose_device_plan(element_type::f64, square(n), plenty, device, {});
    REQUIRE(p.stages.size() == 1);
    CHECK(p.stages[0].fused);
    return p.tile;
  };
  CHECK(tile(8192) == 0);
  CHECK(tile(1200) == 2);
  device.f64.fused = {{64, 5, 1}, {4096, 8.8, 0}};  // 8.8 / 10 · 8/7 = 1.006
  CHECK(choose_device_plan(element_type::f64, square(8192), plenty, device, {}).stages.empty());
}

TEST_CASE("the counters of a fused level are those of its tile") {
  auto device = with_fused();
  auto const held = [&](unsigned tile) {
    device.f32.fused = {{1, 10, tile}, {100000, 10, tile}};
    return choose_device_plan(element_type::f32, square(4096), plenty, device, {}).workspace;
  };
  CHECK(held(0) == sizeof(unsigned) * (1 + 4 * 8 * 16));
  CHECK(held(2) == sizeof(unsigned) * (1 + 4 * 16 * 16));
}

TEST_CASE("slow fused kernels, doubles and narrow arithmetic are left to cuBLAS and the passes") {
  auto device = with_fused();
  device.f32.fused = {{1, 8.8}, {100000, 8.8}};  // 8.8 / 10 · 8/7 = 1.006
  CHECK(choose_device_plan(element_type::f32, square(4096), plenty, device, {}).stages.empty());
  CHECK(choose_device_plan(element_type::f64, square(4096), plenty, with_fused(), {}).stages.empty());
  cuda::options wishes;
  wishes.arithmetic = cuda::arithmetic::tf32;
  CHECK(choose_device_plan(element_type::f32, square(4096), plenty, with_fused(), wishes).stages.empty());
}

TEST_CASE("narrow arithmetic must promise more than exact arithmetic must") {
  cuda::options exact, narrow;
  exact.max_levels = narrow.max_levels = 1;
  narrow.arithmetic = cuda::arithmetic::tf32;
  auto const levels = [](double leaf_tflops, cuda::options const& wishes) {
    auto device = arithmetic_only();
    device.f32.cubes = {{1, leaf_tflops, leaf_tflops}, {2048, leaf_tflops, leaf_tflops}, {4096, 10, 10}};
    device.tf32 = device.f32;
    return levels_of(choose_device_plan(element_type::f32, square(4096), plenty, device, wishes));
  };
  CHECK(levels(9.1, exact) == 1);  // 0.91 · 8/7 = 1.04
  CHECK(levels(9.1, narrow) == 0);
  CHECK(levels(9.5, narrow) == 1);  // 1.086
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
