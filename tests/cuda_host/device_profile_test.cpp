// SPDX-License-Identifier: BSD-3-Clause
// Measured device profiles on disk: what is saved is what is loaded, and what is wrong is named.
#include "src/plan/device_profile_file.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include "src/plan/device_planner.hpp"
#include "tests/temporary_folder.hpp"

using namespace heptad;
using Catch::Contains;

namespace {

class temporary_file {
public:
  [[nodiscard]] std::string const& path() const { return path_; }

  [[nodiscard]] std::string text() const {
    std::ifstream file(path_);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void write(std::string const& text) const { std::ofstream(path_) << text; }
  void replace(std::string const& what, std::string const& by) const {
    std::string all = text();
    auto const at = all.find(what);
    REQUIRE(at != std::string::npos);
    write(all.replace(at, what.size(), by));
  }

private:
  test::temporary_folder const folder_;
  std::string const path_ = (folder_.path() / "profiles.json").string();
};

cuda::device_profile measured(std::string const& name) {
  auto p = cuda::default_device_profile();
  p.name = name;
  p.version = cuda::device_profile_version();
  p.load_gbytes = 12.5;
  p.f32.unaligned = 0.75;
  p.f32.fused.front().tile = 2;
  return p;
}

}  // namespace

TEST_CASE("a device profile is loaded as it was saved, and found by its device") {
  temporary_file const file;
  CHECK_FALSE(cuda::load_device_profile(file.path(), ""));
  cuda::save_device_profile(measured("first"), file.path());
  cuda::save_device_profile(measured("second"), file.path());
  auto again = measured("first");
  again.store_gbytes = 3;
  cuda::save_device_profile(again, file.path());
  auto const found = cuda::load_device_profile(file.path(), "first");
  REQUIRE(found);
  CHECK(found->store_gbytes == 3);
  CHECK(found->load_gbytes == 12.5);
  CHECK(found->f32.unaligned == 0.75);
  CHECK(found->measured);
  REQUIRE(found->f64.cubes.size() == again.f64.cubes.size());
  CHECK(found->f64.cubes[3].size == again.f64.cubes[3].size);
  CHECK(found->f64.cubes[3].batched == again.f64.cubes[3].batched);
  CHECK(found->bf16.thins.back().tflops == again.bf16.thins.back().tflops);
  REQUIRE(found->f32.fused.size() == again.f32.fused.size());
  CHECK(found->f32.fused.back().tflops == again.f32.fused.back().tflops);
  CHECK(found->f32.fused.front().tile == again.f32.fused.front().tile);
  CHECK(found->tf32.fused.empty());
  CHECK(cuda::load_device_profile(file.path(), "")->name == "first");  // measured last
  CHECK(cuda::load_device_profile(file.path(), "second")->store_gbytes == measured("second").store_gbytes);
  CHECK_FALSE(cuda::load_device_profile(file.path(), "third"));
}

TEST_CASE("a malformed device profile is refused with the field that is wrong") {
  temporary_file const file;
  auto const rejects = [&](std::string const& what, std::string const& by, std::string const& field) {
    INFO(what << " -> " << by);
    std::filesystem::remove(file.path());
    cuda::save_device_profile(measured("x"), file.path());
    file.replace(what, by);
    CHECK_THROWS_WITH(cuda::load_device_profile(file.path(), ""), Contains(field) && Contains(file.path()));
  };
  rejects("\"load_gbytes\": 12.5", "\"load_gbytes\": -1", "[0].load_gbytes");
  rejects("\"load_gbytes\": 12.5", "\"load_gbytes\": \"fast\"", "must be a number");
  rejects("\"load_gbytes\": 12.5,", "", "[0].load_gbytes");
  rejects("\"unaligned\": 0.75", "\"unaligned\": 0", "[0].f32.unaligned");
  rejects("\"size\": 256", "\"size\": 64", "must be above the one before");
  rejects("\"cubes\": [", "\"cubes\": [], \"x\": [", "non-empty array");
  rejects("\"fused\": [", "\"fused\": 7, \"x\": [", "must be an array");
  rejects("\"tile\": 2", "\"tile\": 3", "[0].f32.fused[0].tile");
  rejects("\"tile\": 2", "\"tile\": -1", "[0].f32.fused[0].tile");
  rejects("\"cublas\": 130100", "\"cublas\": 1.5", "must be an integer");
  file.write("{}");
  CHECK_THROWS_WITH(cuda::load_device_profile(file.path(), ""), Contains("must be a JSON array"));
  file.write("[1]");
  CHECK_THROWS_WITH(cuda::load_device_profile(file.path(), ""), Contains("[0]") && Contains("must be an object"));
}

TEST_CASE("a profile of another version or another cuBLAS is stale, and the plan says whose rates it used") {
  auto p = measured("x");
  CHECK(cuda::stale_reason(p, p.cublas).empty());
  CHECK(cuda::stale_reason(p, 0).empty());
  CHECK_THAT(cuda::stale_reason(p, 120000), Contains("130100") && Contains("120000"));
  p.version = "0.0.1/0";
  CHECK_THAT(cuda::stale_reason(p, p.cublas), Contains("0.0.1/0"));
  p.measured = false;
  p.remark = "the profile was too old";
  problem shape;
  shape.m = shape.n = shape.k = 1024;
  auto const how = cuda::choose_device_plan(element_type::f64, shape, std::size_t{1} << 30, p, {});
  CHECK(how.device == "x (assumed rates: the profile was too old)");
}

TEST_CASE("what a device is measured at decides the plan") {
  problem shape;
  shape.m = shape.n = shape.k = 8192;
  shape.beta_zero = true;
  auto p = measured("x");
  auto const plan = [&] { return cuda::choose_device_plan(element_type::f64, shape, std::size_t{64} << 30, p, {}); };
  CHECK_FALSE(plan().stages.empty());
  p.pass_gbytes = 50;  // sums cost more than they save
  CHECK(plan().stages.empty());
}
