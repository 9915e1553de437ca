// SPDX-License-Identifier: BSD-3-Clause
// A measured profile is kept, plausible, and what calls plan with from then on.
#include <cstdlib>
#include <filesystem>
#include <string>

#include "src/api/cuda/device.hpp"
#include "src/plan/device_profile_file.hpp"
#include "src/plan/fused_tiles.hpp"
#include "tests/gpu/device.hpp"

using namespace heptad;
using namespace heptad::test;
using Catch::Contains;

TEST_CASE("a calibrated device is planned for with its own rates, until cuBLAS is another one") {
  auto const folder = std::filesystem::temp_directory_path() / "heptad-gpu-calibrate-test";
  std::filesystem::remove_all(folder);
  setenv("HEPTAD_PROFILE_DIR", folder.c_str(), 1);
  double last = -1;
  std::string const path = cuda::calibrate({}, [&](double fraction, std::string const&) {
    CHECK(fraction >= last);
    last = fraction;
  });
  CHECK(last == 1);
  CHECK(path == cuda::device_profiles_path());
  auto p = cuda::load_device_profile(path, "");
  REQUIRE(p);
  cudaDeviceProp properties{};
  require(cudaGetDeviceProperties(&properties, 0));
  CHECK(p->name == properties.name);
  CHECK(p->cublas == cuda::cublas_version());
  for (cuda::product_rates const* rates : {&p->f64, &p->f32, &p->tf32, &p->bf16}) {
    REQUIRE(rates->cubes.size() > 1);
    CHECK(rates->cubes.back().single > rates->cubes.front().single);
    CHECK(rates->cubes.back().single < 5000);
    CHECK(rates->thins.back().tflops > 0.8 * rates->thins.front().tflops);  // power: the last one may be slower
    CHECK(rates->unaligned > 0.1);
    CHECK(rates->unaligned <= 1);
  }
  for (cuda::product_rates const* rates : {&p->f64, &p->f32}) {
    REQUIRE(rates->fused.size() > 1);
    CHECK(rates->fused.back().tflops > rates->fused.front().tflops);
  }
  for (auto const& at : p->f64.fused) CHECK(at.tile < cuda::f64_tiles.size());
  CHECK(p->pass_gbytes > 10);
  CHECK(p->pass_gbytes < 20000);
  CHECK(p->load_gbytes > 0.5);
  CHECK(p->load_gbytes < 1000);

  problem shape;
  shape.m = shape.n = shape.k = 8192;
  shape.beta_zero = true;
  auto const measured = cuda::make_plan<double>(shape);
  CHECK_THAT(measured.device, Contains("(measured)"));
  p->f64.cubes.back().single = 1e-3;  // a device that takes for ever: the plan shows whose rates were used
  for (auto& cube : p->f64.cubes) cube.single = 1e-3;
  cuda::save_device_profile(*p, path);
  cuda::forget_profiles();
  CHECK(cuda::make_plan<double>(shape).classical_seconds > 100);
  p->cublas += 1;
  cuda::save_device_profile(*p, path);
  cuda::forget_profiles();
  auto const stale = cuda::make_plan<double>(shape);
  CHECK_THAT(stale.device, Contains("heptad calibrate --device cuda"));
  CHECK(stale.classical_seconds < 10);
  unsetenv("HEPTAD_PROFILE_DIR");
  std::filesystem::remove_all(folder);
  cuda::forget_profiles();
}
