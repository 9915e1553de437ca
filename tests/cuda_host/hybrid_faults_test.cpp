// SPDX-License-Identifier: BSD-3-Clause
// Devices that are absent, fail or are lost: who computes their parts, what the report says, and what becomes of C.
#include <algorithm>
#include <string>
#include <vector>

#include <heptad/hybrid.h>

#include "tests/cuda_host/hybrid_case.hpp"

using namespace heptad;
using namespace heptad::test;
using Catch::Contains;

TEST_CASE("the CPU takes over what a device failed to compute, where C is as it was or is not read") {
  context workers(2);
  for (auto const& [how, beta] :
       {std::pair{fault::at_once, -3.0}, {fault::at_once, 0.0}, {fault::touched, 0.0}, {fault::strange, -3.0}})
    for (int const which : {-1, 0, 1}) {
      INFO("fault " << static_cast<int>(how) << ", beta " << beta << ", device " << which);
      paper_devices devices;
      devices.broken = how;
      devices.broken_logical = which;
      exact_product<double> x(190, 170, 33, beta);
      auto const r = x.run(workers, devices, half_by_cpu(2));
      CHECK(x.c == x.expected);
      REQUIRE(r.parts.size() == 3);
      CHECK(std::ranges::count_if(r.parts, [](auto const& p) { return !p.failure.empty(); }) == (which < 0 ? 2 : 1));
      for (hybrid::part const& p : r.parts) {
        if (p.failure.empty()) continue;
        CHECK_THAT(p.how, Contains("by the CPU"));
        CHECK_THAT(p.failure, how == fault::at_once   ? Contains("device memory")
                              : how == fault::strange ? Contains("unknown type")
                                                      : Contains("device was lost"));
      }
      CHECK(r.taken_over_seconds > 0);
      CHECK_THAT(hybrid::explain(r), Contains("the CPU took over"));
    }
}

TEST_CASE("a device lost after it began to store is an error that names the spoilt block, and the rest of C is done") {
  context workers(2);
  paper_devices devices;
  devices.broken = fault::touched;
  exact_product<double> x(100, 180, 20, -3.0);
  try {
    (void)x.run(workers, devices, half_by_cpu());
    FAIL("no error");
  } catch (error const& e) {
    CHECK(e.code() == status::internal_error);
    // The CPU has the first half of the columns, to the next multiple of 64.
    CHECK_THAT(e.what(), Contains("device 0 (paper) failed on rows 0 to 99, columns 64 to 179") && Contains("spoilt") &&
                             Contains("device was lost"));
    CHECK(std::equal(x.c.begin(), x.c.begin() + 64 * 100, x.expected.begin()));
  }
}

TEST_CASE("a device that is not to be replaced is an error, with its block as it was") {
  context workers(2);
  paper_devices devices;
  devices.broken = fault::at_once;
  auto wishes = half_by_cpu();
  wishes.take_over = false;
  exact_product<double> x(100, 180, 20, -3.0);
  CHECK_THROWS_WITH(x.run(workers, devices, wishes), Contains("as it was") && Contains("device memory"));
  CHECK(std::equal(x.c.begin() + 64 * 100, x.c.end(), x.before.begin() + 64 * 100));
  CHECK(std::equal(x.c.begin(), x.c.begin() + 64 * 100, x.expected.begin()));
  devices.no_driver = true;
  x.c = x.before;
  CHECK_THROWS_WITH(x.run(workers, devices, wishes), Contains("no driver"));
  CHECK(x.c == x.before);
}

TEST_CASE("without a device that can be used the CPU computes all, and the report says why") {
  context workers(2);
  paper_devices devices;
  std::string why;
  hybrid::options wishes;
  SECTION("no library") { why = "libheptad_cuda"; }
  SECTION("no driver") { devices.no_driver = true, why = "no driver"; }
  SECTION("none") { devices.there.clear(), why = "no CUDA device"; }
  SECTION("an old one") { devices.there[0].unusable = "compute capability 6.1", why = "device 0 (paper): compute"; }
  SECTION("another number") { wishes.devices.emplace({5}), why = "device 5: there is none"; }
  SECTION("too little memory") { devices.cannot_predict = true, why = "too few"; }
  SECTION("too little memory, and no share for the CPU") {
    devices.cannot_predict = true, wishes.cpu_share = 0.0, why = "too few";
  }
  exact_product<double> x(120, 130, 20, -3.0);
  present_devices = &devices;
  auto const r =
      hybrid::multiply(workers, why == "libheptad_cuda" ? find_nothing : find_paper_devices, x.call(), wishes);
  CHECK(x.c == x.expected);
  REQUIRE(r.parts.size() == 1);
  CHECK(r.parts[0].device == -1);
  REQUIRE(r.absent.size() == 1);
  CHECK_THAT(r.absent[0], Contains(why));
  CHECK_THAT(hybrid::explain(r), Contains("took no part: ") && Contains(why));
  CHECK(devices.calls == 0);
}

TEST_CASE("bad options and memory of a device are refused by name, with C as it was") {
  context workers(1);
  paper_devices devices;
  exact_product<double> x(12, 13, 5, 1.0);
  auto const rejects = [&](hybrid::options const& wishes, char const* name) {
    CHECK_THROWS_WITH(x.run(workers, devices, wishes), Contains(name));
    CHECK(x.c == x.before);
  };
  hybrid::options wishes;
  wishes.logical_devices = 0;
  rejects(wishes, "logical_devices = 0");
  wishes = {};
  wishes.copy_threads = 0;
  rejects(wishes, "copy_threads = 0");
  for (double const share : {-0.5, 1.5, std::nan("")}) {
    wishes = {};
    wishes.cpu_share = share;
    rejects(wishes, "cpu_share");
  }
  wishes = {};
  wishes.devices.emplace({0, 3, 0});
  rejects(wishes, "devices: 0 must be named once");
  wishes = {};
  wishes.product.max_error = 0;
  rejects(wishes, "max_error");
  devices.device_memory = true;
  rejects({}, "A.data");
}
