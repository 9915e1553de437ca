// SPDX-License-Identifier: BSD-3-Clause
// Products shared with devices on paper: who computes what, and how later calls learn from it.
#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include <heptad/hybrid.h>

#include "src/api/learned_rates.hpp"
#include "tests/cuda_host/hybrid_case.hpp"

using namespace heptad;
using namespace heptad::test;
using Catch::Contains;

TEMPLATE_TEST_CASE("a product shared by the CPU and devices is right, and the report says who did what", "", double,
                   float) {
  for (int const threads : {1, 3}) {
    context workers(threads);
    for (int const logical : {1, 2, 3})
      for (bool const by_rows : {false, true})
        for (TestType const beta : {TestType(0), TestType(-3)}) {
          INFO(threads << " threads, " << logical << " logical devices, row-major " << by_rows << ", beta " << beta);
          paper_devices devices;
          devices.there = {{0, "paper", ""}, {1, "glass", ""}};
          exact_product<TestType> x(301, 258, 40, beta, by_rows);
          auto const r = x.run(workers, devices, half_by_cpu(logical));
          CHECK(x.c == x.expected);
          REQUIRE(r.parts.size() == static_cast<std::size_t>(1 + 2 * logical));
          CHECK(covered(r, 301, 258) == Approx(1));
          CHECK(r.parts[0].device == -1);
          CHECK(r.parts[0].share == Approx(0.5).margin(0.15));
          for (std::size_t i = 1; i < r.parts.size(); ++i) {
            CHECK(r.parts[i].how == "by the definition");
            CHECK(r.parts[i].bytes_in == 8);
            CHECK(r.parts[i].gflops > 0);
          }
          CHECK(r.parts.back().device == 1);
          CHECK(r.parts.back().logical == logical - 1);
          CHECK(r.pinned);
          CHECK(r.absent.empty());
          CHECK(r.taken_over_seconds == 0);
          CHECK(devices.shares.front().sharers == logical);
          CHECK_THAT(hybrid::explain(r), Contains("CPU, ") && Contains("(glass)") && Contains("by the definition"));
        }
  }
}

TEST_CASE("without a share given the rates decide, and the CPU may get nothing") {
  context workers(2);
  paper_devices devices;
  exact_product<double> x(200, 200, 30, 1.0);
  auto r = x.run(workers, devices);
  CHECK(x.c == x.expected);
  REQUIRE(r.parts.size() == 1);
  CHECK(r.parts[0].device == 0);
  devices.seconds_of_element = 1;
  exact_product<double> y(200, 210, 30, 1.0);
  r = y.run(workers, devices);
  CHECK(y.c == y.expected);
  REQUIRE(r.parts.size() == 1);
  CHECK(r.parts[0].device == -1);
}

TEST_CASE("later products of a shape are shared by what the parts of the first took") {
  context workers(1);
  paper_devices devices;
  devices.seconds_of_element = 1e-12;  // it promises far too much
  exact_product<double> x(300, 300, 300, 0.0);
  auto r = x.run(workers, devices);
  CHECK(r.parts.size() == 1);
  double const first = r.predicted_seconds;
  for (int call = 0; call < 4; ++call) r = x.run(workers, devices);
  CHECK(x.c == x.expected);
  CHECK(r.predicted_seconds > 10 * first);
  hybrid::options forgetful;
  forgetful.learn = false;
  CHECK(x.run(workers, devices, forgetful).predicted_seconds == Approx(first));
}

TEST_CASE("a plan says who would compute which block, and runs nothing") {
  context workers(2);
  paper_devices devices;
  devices.there = {{0, "paper", ""}, {1, "glass", ""}};
  devices.seconds_of_element = 1e-9;
  present_devices = &devices;
  problem shape;
  shape.m = 640, shape.n = 1280, shape.k = 5000, shape.beta_zero = true;
  hybrid::plan const p = hybrid::make_plan(workers, find_paper_devices, element_type::f64, shape, true, {});
  CHECK(devices.calls == 0);
  CHECK(p.shape == shape);
  REQUIRE(p.parts.size() == 2);
  CHECK(p.parts[1].device == 1);
  CHECK(p.parts[0].share + p.parts[1].share == Approx(1));
  CHECK(p.predicted_seconds == Approx(640 * 640 * 1e-9));
  CHECK(p.alone_seconds == Approx(640 * 1280 * 1e-9));
  CHECK_THAT(hybrid::explain(p), Contains("dgemm 640 x 1280 x 5000") &&
                                     Contains("50.00 % of C (640 x 640 at 0, 640)") && Contains("(glass)") &&
                                     Contains("by the definition") && Contains("alone 0.819 ms"));
  hybrid::options all_by_cpu;
  all_by_cpu.cpu_share = 1.0;
  auto const cpu = hybrid::make_plan(workers, find_paper_devices, element_type::f32, shape, true, all_by_cpu);
  REQUIRE(cpu.parts.size() == 1);
  CHECK(cpu.parts[0].device == -1);
  CHECK_FALSE(cpu.parts[0].how.empty());
  shape.m = 0;
  CHECK(hybrid::make_plan(workers, find_paper_devices, element_type::f64, shape, true, {}).parts.empty());
  shape.m = -1;
  CHECK_THROWS_WITH(hybrid::make_plan(workers, find_paper_devices, element_type::f64, shape, true, {}),
                    Contains("m = -1"));
}

TEST_CASE("a split that is slower than one participant alone is given up") {
  split const shared{{{1, 0, 0, 64, 32, 1.0}, {2, 0, 32, 64, 32, 1.0}}, 1.0}, alone{{{1, 0, 0, 64, 64, 1.9}}, 1.9};
  shared_product_key const key{element_type::f64, {}, true, 1, 3, {}};
  std::vector<double> const as_predicted{0, 1, 1};
  auto const after = [&](double shared_took, double alone_took) {
    learned_rates rates;
    learned_split known = rates.find(key);
    known.how = shared, known.alone = alone;
    rates.tell(key, known, as_predicted, shared_took);
    known = rates.find(key);
    bool const tried = known.how.parts.size() == 1;
    if (tried) rates.tell(key, known, {0, alone_took / 1.9, 0}, alone_took);
    return std::pair(tried, rates.find(key).how.parts.size());
  };
  CHECK(after(1.5, 0) == std::pair(false, std::size_t{2}));
  CHECK(after(2.5, 2.0) == std::pair(true, std::size_t{1}));
  CHECK(after(2.5, 3.0) == std::pair(true, std::size_t{2}));
}

TEST_CASE("devices that were not asked for take no part") {
  context workers(2);
  paper_devices devices;
  devices.there = {{0, "paper", ""}, {1, "glass", ""}};
  exact_product<double> x(120, 130, 20, 1.0);
  hybrid::options wishes;
  wishes.devices.emplace();
  auto r = x.run(workers, devices, wishes);
  CHECK((r.parts.size() == 1 && r.parts[0].device == -1 && r.absent.empty()));
  x.c = x.before;
  wishes.devices.emplace({1});
  wishes.cpu_share = 0.0;
  r = x.run(workers, devices, wishes);
  CHECK((r.parts.size() == 1 && r.parts[0].device == 1));
  CHECK(x.c == x.expected);
  x.c = x.before;
  wishes.cpu_share = 1.0;
  r = x.run(workers, devices, wishes);
  CHECK((r.parts.size() == 1 && r.parts[0].device == -1));
  CHECK(x.c == x.expected);
}

TEST_CASE("where nothing is multiplied no device is asked") {
  context workers(2);
  paper_devices devices;
  present_devices = &devices;
  exact_product<double> x(12, 13, 5, -3.0);
  auto call = x.call();
  call.alpha = 0;
  auto const r = hybrid::multiply(workers, find_paper_devices, call, {});
  CHECK(r.parts.size() == 1);
  CHECK(devices.calls == 0);
  for (std::size_t i = 0; i < x.c.size(); ++i) CHECK(x.c[i] == -3 * x.before[i]);
  call.C.cols = call.B.cols = 0;
  CHECK(hybrid::multiply(workers, find_paper_devices, call, {}).parts.empty());
}

TEST_CASE("shared products may run at the same time in one context") {
  context workers(2);
  paper_devices devices;
  present_devices = &devices;
  std::vector<exact_product<double>> all(4, exact_product<double>(150, 140, 30, 1.0));
  std::vector<std::thread> callers;
  for (auto& x : all)
    callers.emplace_back([&] { (void)hybrid::multiply(workers, find_paper_devices, x.call(), half_by_cpu()); });
  for (auto& c : callers) c.join();
  for (auto const& x : all) CHECK(x.c == x.expected);
}

TEST_CASE("the C interface gives the product with or without devices") {
  exact_product<double> x(60, 50, 40, -3.0);
  CHECK(heptad_hybrid_dgemm('n', 'N', x.m, x.n, x.k, x.alpha, x.a.data(), x.m, x.b.data(), x.k, x.beta, x.c.data(),
                            x.m) == HEPTAD_SUCCESS);
  CHECK(x.c == x.expected);
  exact_product<float> y(60, 50, 40, 0.0F);
  CHECK(heptad_hybrid_sgemm('n', 'N', y.m, y.n, y.k, y.alpha, y.a.data(), y.m, y.b.data(), y.k, y.beta, y.c.data(),
                            y.m) == HEPTAD_SUCCESS);
  CHECK(y.c == y.expected);
  CHECK(heptad_hybrid_dgemm('n', 'N', x.m, x.n, x.k, x.alpha, x.a.data(), x.m - 1, x.b.data(), x.k, x.beta, x.c.data(),
                            x.m) == HEPTAD_INVALID_ARGUMENT);
  CHECK_THAT(heptad_last_error(), Contains("lda"));
}
