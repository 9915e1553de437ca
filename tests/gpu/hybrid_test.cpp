// SPDX-License-Identifier: BSD-3-Clause
// Products shared by the CPU and real devices, each as several logical ones. Small integers: the results are exact.
#include "src/api/hybrid.hpp"

#include <string>

#include "tests/gpu/device.hpp"

using namespace heptad;
using namespace heptad::test;
using Catch::Contains;

namespace {

template <typename T>
std::vector<T> digits(std::int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> digit(-4, 4);
  std::vector<T> all(static_cast<std::size_t>(count));
  for (T& x : all) x = static_cast<T>(digit(random));
  return all;
}

template <typename T>
struct shared_case {
  std::int64_t m, n, k;
  T beta;
  std::vector<T> a, b, c, expected;

  shared_case(std::int64_t rows, std::int64_t cols, std::int64_t depth, T beta_)
      : m(rows),
        n(cols),
        k(depth),
        beta(beta_),
        a(digits<T>(m * k, 1)),
        b(digits<T>(k * n, 2)),
        c(digits<T>(m * n, 3)) {
    expected.resize(c.size());
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < m; ++i) {
        auto const at = static_cast<std::size_t>(i + j * m);
        T sum = 0;
        for (std::int64_t l = 0; l < k; ++l)
          sum += a[static_cast<std::size_t>(i + l * m)] * b[static_cast<std::size_t>(l + j * k)];
        expected[at] = 2 * sum + beta * c[at];
      }
  }
  hybrid::report run(context& workers, hybrid::options const& wishes) {
    return hybrid::gemm<T>(workers, T(2), column_major<T const>(a.data(), m, k, m),
                           column_major<T const>(b.data(), k, n, k), beta, column_major(c.data(), m, n, m), wishes);
  }
};

}  // namespace

TEMPLATE_TEST_CASE("a product shared by the CPU and logical devices is right", "", double, float) {
  context workers(4);
  for (int const logical : {1, 2, 3})
    for (TestType const beta : {TestType(0), TestType(-3)})
      for (bool const pinned : {false, true}) {
        INFO(logical << " logical devices, beta " << beta << ", pinned " << pinned);
        shared_case<TestType> x(513, 2100, 300, beta);  // enough columns that every logical device pays
        if (pinned)
          for (auto* v : {&x.a, &x.b, &x.c})
            require(cudaHostRegister(v->data(), v->size() * sizeof(TestType), cudaHostRegisterDefault));
        hybrid::options wishes;
        wishes.cpu_share = 0.3;
        wishes.logical_devices = logical;
        auto const r = x.run(workers, wishes);
        if (pinned)
          for (auto* v : {&x.a, &x.b, &x.c}) require(cudaHostUnregister(v->data()));
        CHECK(x.c == x.expected);
        CHECK(r.pinned == pinned);
        CHECK(r.parts.size() >= static_cast<std::size_t>(1 + logical));
        CHECK(r.parts[0].device == -1);
        for (hybrid::part const& p : r.parts) {
          CHECK(p.failure.empty());
          if (p.device >= 0) CHECK(p.bytes_out == static_cast<std::size_t>(p.rows * p.cols) * sizeof(TestType));
        }
      }
}

TEST_CASE("two devices share products of pageable matrices, call after call, and none loses its part") {
  int devices = 0;
  require(cudaGetDeviceCount(&devices));
  if (devices < 2) {
    WARN("skipped: needs two devices");
    return;
  }
  context workers(4);
  hybrid::options wishes;
  wishes.cpu_share = 0.0;
  for (int call = 0; call < 12; ++call) {
    INFO("call " << call);
    shared_case<double> x(513, 2100, 300, -3.0);
    auto const r = x.run(workers, wishes);
    CHECK(x.c == x.expected);
    CHECK_FALSE(r.pinned);
    CHECK(r.parts.size() >= 2);
    for (hybrid::part const& p : r.parts) CHECK(p.failure == "");
  }
}

TEST_CASE("devices without enough memory leave their part to the CPU, and the report says so") {
  context workers(4);
  hybrid::options wishes;
  wishes.max_device_memory = 1000;
  shared_case<double> x(300, 200, 100, -3.0);
  auto const r = x.run(workers, wishes);
  CHECK(x.c == x.expected);
  REQUIRE(r.parts.size() == 1);
  CHECK(r.parts[0].device == -1);
  REQUIRE(!r.absent.empty());
  CHECK_THAT(r.absent[0], Contains("too few"));
}

TEST_CASE("memory of a device in a shared product is refused by name") {
  context workers(2);
  device_array<double> there(std::vector<double>(64));
  std::vector<double> b(64), c(64, 5.0);
  auto const square = [](auto* data) { return column_major(data, std::int64_t{8}, std::int64_t{8}, std::int64_t{8}); };
  CHECK_THROWS_WITH(hybrid::gemm<double>(workers, 1.0, square(static_cast<double const*>(there.data())),
                                         square(static_cast<double const*>(b.data())), 0.0, square(c.data())),
                    Contains("A.data") && Contains("host memory"));
  CHECK(c == std::vector<double>(64, 5.0));
}

TEST_CASE("a shared product leaves the current device as it was") {
  int before = -1, after = -2;
  require(cudaGetDevice(&before));
  context workers(2);
  shared_case<double> x(300, 200, 100, 0.0);
  hybrid::options wishes;
  wishes.cpu_share = 0.0;
  CHECK(x.run(workers, wishes).parts.front().device >= 0);
  CHECK(x.c == x.expected);
  require(cudaGetDevice(&after));
  CHECK(before == after);
}
