// SPDX-License-Identifier: BSD-3-Clause
// A plan that is used again: neither operator new nor the pool of workspace is asked for anything.
#include <atomic>
#include <catch2/catch.hpp>
#include <cmath>
#include <heptad/heptad.hpp>
#include <random>
#include <vector>

#include "src/api/memory.hpp"
#include "tests/new_operators.hpp"

using namespace heptad;

namespace {

std::atomic<std::size_t> blocks = 0;

struct counted_blocks {
  counted_blocks() {
    set_allocation_gate([](std::size_t) {
      ++blocks;
      return true;
    });
  }
  ~counted_blocks() { set_allocation_gate(nullptr); }
};

template <typename T>
struct product {
  std::int64_t m, n, k;
  std::vector<T> a, b, c;

  product(std::int64_t rows, std::int64_t cols, std::int64_t inner)
      : m(rows), n(cols), k(inner), a(fill(rows * inner)), b(fill(inner * cols)), c(fill(rows * cols)) {}

  static std::vector<T> fill(std::int64_t count) {
    std::mt19937 random(static_cast<unsigned>(count));
    std::vector<T> x(static_cast<std::size_t>(count));
    for (T& value : x) value = static_cast<T>(random()) / static_cast<T>(1U << 31) - 1;
    return x;
  }

  void multiply(context& workers, plan const& how, report& told) {
    gemm<T>(workers, how, T(2), column_major<T const>(a.data(), m, k, m), column_major<T const>(b.data(), k, n, k),
            T(0), column_major(c.data(), m, n, m), told);
  }
  /// Of a few elements, by its definition.
  [[nodiscard]] bool right() const {
    for (std::int64_t i : {std::int64_t{0}, m / 2, m - 1})
      for (std::int64_t j : {std::int64_t{0}, n / 3, n - 1}) {
        double sum = 0;
        for (std::int64_t l = 0; l < k; ++l) sum += 2.0 * double(a[i + l * m]) * double(b[l + j * k]);
        if (!(std::abs(sum - double(c[i + j * m])) < (sizeof(T) == 8 ? 1e-10 : 1e-2))) return false;
      }
    return true;
  }
};

template <typename T>
plan planned(context& workers, product<T> const& x, std::string const& algorithm, int levels) {
  problem shape;
  shape.m = x.m, shape.n = x.n, shape.k = x.k;
  shape.beta_zero = true;
  options wishes;
  wishes.algorithm = algorithm;
  wishes.force_levels = levels;
  return make_plan<T>(workers, shape, wishes);
}

}  // namespace

TEMPLATE_TEST_CASE("the second call with a plan and a report allocates nothing", "", double, float) {
  product<TestType> x(330, 250, 270);
  for (int const threads : {1, 2}) {
    context workers(threads);
    for (auto const& [algorithm, levels] : {std::pair{"classical", 0}, {"winograd", 3}, {"sparse323", 1}}) {
      INFO(algorithm << ", " << threads << " threads");
      plan const how = planned(workers, x, algorithm, levels);
      REQUIRE(static_cast<int>(how.levels.size()) == levels);
      report told;
      std::size_t const at_first = test::allocations;
      x.multiply(workers, how, told);
      REQUIRE(test::allocations > at_first);  // it does count
      REQUIRE(x.right());
      counted_blocks const counted;
      for (int call = 0; call < 5; ++call) {
        std::size_t const objects = test::allocations, before = blocks;
        x.multiply(workers, how, told);
        std::size_t const objects_now = test::allocations, now = blocks;
        CHECK(objects_now - objects == 0);
        CHECK(now - before == 0);
      }
      CHECK(x.right());
      CHECK(told.tasks == how.tasks);
      CHECK(told.plan.levels.size() == how.levels.size());
    }
  }
}

TEST_CASE("a report that is used again says what the latest call did") {
  context workers(1);
  product<double> x(330, 250, 270);
  plan const fast = planned(workers, x, "winograd", 2), plain = planned(workers, x, "classical", 0);
  report told;
  x.a[5] = std::nan("");
  x.multiply(workers, fast, told);
  CHECK(told.plan.levels.empty());
  CHECK_FALSE(told.precaution.empty());
  x.a[5] = 1;
  x.multiply(workers, fast, told);
  CHECK(told.plan.levels.size() == 2);
  CHECK(told.precaution.empty());
  CHECK(told.precaution_seconds > 0);
  x.multiply(workers, plain, told);
  CHECK(told.plan.levels.empty());
  CHECK(told.precaution_seconds == 0);
  CHECK(told.busy_seconds.size() == 1);
}
