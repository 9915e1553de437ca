// SPDX-License-Identifier: BSD-3-Clause
// Products shared with devices that are none: threads that compute their parts by the definition, or fail as devices
// do, before or after they have changed C. Small integers: the results are exact.
#include "src/api/hybrid.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <heptad/hybrid.h>

#include "src/api/arguments.hpp"
#include "src/api/learned_rates.hpp"

using namespace heptad;
using Catch::Contains;

namespace {

enum class fault { none, at_once, touched, strange };

/// Devices of the tests. Set up before a call; found by a function without arguments, as the real ones are.
class paper_devices final : public device_backend {
public:
  std::vector<found_device> there{{0, "paper", ""}};
  double seconds_of_element = 1e-15;  // predicted: next to nothing, so that devices get all they may
  fault broken = fault::none;
  int broken_logical = -1;  // how many calls succeed before one is broken; −1: every one is
  bool cannot_predict = false;
  bool no_driver = false;
  bool device_memory = false;
  int calls = 0;
  std::vector<device_share> shares;

  [[nodiscard]] char const* version() const noexcept override { return heptad::version(); }
  std::vector<found_device> devices() override {
    if (no_driver) throw error(status::invalid_argument, "no usable CUDA device: no driver");
    return there;
  }
  bool is_pinned(char const* name, void const*, void const*) override {
    if (device_memory) throw error(status::invalid_argument, std::string(name) + ".data is memory of device 0");
    return true;
  }
  device_forecast predict(device_share const& who, element_type, problem const& shape, bool pinned) override {
    if (cannot_predict) throw error(status::out_of_memory, "100 bytes of device memory are too few");
    if (!pinned) throw error(status::internal_error, "they were said to be pinned");
    return {who.sharers * seconds_of_element * double(shape.m) * double(shape.n), "by the definition"};
  }
  device_work multiply(device_share const& who, any_device_product const& any, std::atomic<bool>& touched) override {
    return std::visit([&](auto const& x) { return run(who, x, touched); }, any);
  }

private:
  template <typename T>
  device_work run(device_share const& who, device_product<T> const& x, std::atomic<bool>& touched) {
    bool fails = false;
    {
      std::lock_guard const lock(mutex_);
      fails = broken != fault::none && (broken_logical < 0 || calls == broken_logical);
      ++calls;
      shares.push_back(who);
    }
    if (fails && broken == fault::at_once) throw error(status::out_of_memory, "device memory for the blocks");
    if (fails && broken == fault::strange) throw 7;
    touched = true;
    for (std::int64_t j = 0; j < x.C.cols; ++j)
      for (std::int64_t i = 0; i < x.C.rows; ++i) {
        T sum = 0;
        for (std::int64_t l = 0; l < x.A.cols; ++l)
          sum += x.A.data[i * x.A.row_stride + l * x.A.col_stride] * x.B.data[l * x.B.row_stride + j * x.B.col_stride];
        T& c = x.C.data[i * x.C.row_stride + j * x.C.col_stride];
        c = x.alpha * sum + (x.beta == T(0) ? T(0) : x.beta * c);
        if (fails) throw error(status::internal_error, "a product: the device was lost");
      }
    return {"by the definition", 8, 4, 0.5};
  }
  std::mutex mutex_;
};

paper_devices* present_devices = nullptr;
device_backend& find_paper_devices() { return *present_devices; }
device_backend& find_nothing() {
  throw error(status::invalid_argument, "a CUDA device needs libheptad_cuda: not found");
}

template <typename T>
struct exact_product {
  std::int64_t m, n, k;
  bool by_rows;
  std::vector<T> a, b, c, before, expected;
  T alpha = 2, beta;

  exact_product(std::int64_t rows, std::int64_t cols, std::int64_t depth, T beta_, bool by_rows_ = false)
      : m(rows), n(cols), k(depth), by_rows(by_rows_), beta(beta_) {
    std::mt19937 random(11);
    std::uniform_int_distribution<int> digit(-4, 4);
    auto const fill = [&](std::vector<T>& x, std::int64_t count) {
      x.resize(static_cast<std::size_t>(count));
      for (T& v : x) v = static_cast<T>(digit(random));
    };
    fill(a, m * k), fill(b, k * n), fill(c, m * n);
    expected = c;
    auto const at = [&](std::vector<T>& x, std::int64_t i, std::int64_t j, std::int64_t r, std::int64_t s) -> T& {
      return x[static_cast<std::size_t>(by_rows ? i * s + j : i + j * r)];
    };
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        T sum = 0;
        for (std::int64_t l = 0; l < k; ++l) sum += at(a, i, l, m, k) * at(b, l, j, k, n);
        T& e = at(expected, i, j, m, n);
        e = alpha * sum + beta * e;
      }
    if (beta == T(0)) std::ranges::fill(c, std::numeric_limits<T>::quiet_NaN());
    before = c;
  }
  template <typename U>
  matrix_view<U> view(U* data, std::int64_t r, std::int64_t s) const {
    return by_rows ? row_major(data, r, s, s) : column_major(data, r, s, r);
  }
  operands<T> call() {
    T const *from_a = a.data(), *from_b = b.data();
    return {alpha, view(from_a, m, k), view(from_b, k, n), beta, view(c.data(), m, n)};
  }
  hybrid::report run(context& workers, paper_devices& devices, hybrid::options const& wishes = {}) {
    present_devices = &devices;
    return hybrid::multiply(workers, find_paper_devices, call(), wishes);
  }
};

/// Of C; every element must be covered once.
double covered(hybrid::report const& r, std::int64_t m, std::int64_t n) {
  std::vector<int> count(static_cast<std::size_t>(m * n));
  double shares = 0;
  for (hybrid::part const& p : r.parts) {
    for (std::int64_t i = p.row; i < p.row + p.rows; ++i)
      for (std::int64_t j = p.col; j < p.col + p.cols; ++j) ++count.at(static_cast<std::size_t>(i * n + j));
    shares += p.share;
  }
  CHECK(std::ranges::all_of(count, [](int c) { return c == 1; }));
  return shares;
}

hybrid::options half_by_cpu(int logical = 1) {
  hybrid::options wishes;
  wishes.cpu_share = 0.5;
  wishes.logical_devices = logical;
  wishes.learn = false;  // what these devices take is chance
  return wishes;
}

}  // namespace

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

TEST_CASE("a device lost after it began to store is an error that names the spoilt block; the rest of C is done") {
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
  wishes.product.max_error = 0;
  rejects(wishes, "max_error");
  devices.device_memory = true;
  rejects({}, "A.data");
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
