// SPDX-License-Identifier: BSD-3-Clause
// The check by random vectors accepts right results and finds planted errors.
#include "src/api/sampled_check.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "src/plan/planner.hpp"
#include "tests/accuracy/random_product.hpp"

using namespace heptad;
using namespace heptad::test;

TEMPLATE_TEST_CASE("right results pass, and what is observed is near the true error", "", double, float) {
  using T = TestType;
  context workers(2);
  generator random(3);
  for (int c = 0; c < 24; ++c) {
    product<T> x = random_product<T>(random, 150);
    x.A.fill(random);
    x.B.fill(random);
    x.C0.fill(random);
    x.reset();
    options wishes;
    wishes.force_levels = c % 4;
    wishes.check = 1 + c % 3;
    report const r = gemm(workers, x.alpha, x.A.read(), x.B.read(), x.beta, x.C.view(), wishes);
    INFO(x.m() << " x " << x.n() << " x " << x.k() << ", alpha " << x.alpha << ", beta " << x.beta);
    REQUIRE(r.check);
    CHECK(r.check->vectors == wishes.check);
    CHECK(r.check->passed);
    double largest = 0;
    auto const reference = exact(x);
    for (std::int64_t j = 0; j < x.n(); ++j)
      for (std::int64_t i = 0; i < x.m(); ++i)
        largest = std::max(
            largest, static_cast<double>(std::abs(reference[static_cast<std::size_t>(j * x.m() + i)] - x.C(i, j))));
    // In double the check rounds like the product; in single it is exact beside it.
    if (sizeof(T) == 4) CHECK(r.check->observed <= 5 * largest);
    if (sizeof(T) == 4 && std::min(x.m(), x.n()) > 20) CHECK(r.check->observed >= 0.05 * largest);
  }
}

TEMPLATE_TEST_CASE("an error planted in C is found and about as large as it is", "", double, float) {
  using T = TestType;
  generator random(4);
  context workers(2);
  for (T const beta : {T(0), T(-0.7)}) {
    product<T> x(130, 120, 140, layout::columns, layout::rows, layout::columns);
    x.alpha = T(0.7);
    x.beta = beta;
    x.A.fill(random);
    x.B.fill(random);
    x.C0.fill(random);
    x.reset();
    operands<T> const call{x.alpha, x.A.read(), x.B.read(), x.beta, x.C.view()};
    sampled_check<T> check(call, 2);
    options forced;
    forced.force_levels = 2;
    report const r = gemm(workers, x.alpha, x.A.read(), x.B.read(), x.beta, x.C.view(), forced);
    sampled_error const right = check.judge(r.plan);
    CHECK(right.passed);
    T& element = x.C(below(random, x.m()), below(random, x.n()));
    T const good = element;
    double const error = 4 * right.limit * std::sqrt(120.0);
    element += static_cast<T>(error);
    sampled_error const wrong = check.judge(r.plan);
    CHECK_FALSE(wrong.passed);
    CHECK(wrong.observed == Approx(error / std::sqrt(120.0)).epsilon(0.1));
    element = std::numeric_limits<T>::quiet_NaN();
    CHECK_FALSE(check.judge(r.plan).passed);
    element = good;
    CHECK(check.judge(r.plan).passed);
  }
}

TEMPLATE_TEST_CASE("right results that are hardly above the least number pass, and one that is wrong there fails", "",
                   double, float) {
  using T = TestType;
  struct {
    T alpha, beta;
    std::int64_t k;
    int exponent;  // of A
  } const cases[] = {{T(1), T(0.5), 0, 2},
                     {T(0), T(0.5), 5, 2},
                     {T(1e-3), T(0), 3, 10},
                     {T(1e-3), T(1), 3, 4},
                     {T(0.3), T(0.7), 40, 3}};
  constexpr T least = std::numeric_limits<T>::denorm_min();
  generator random(7);
  context workers(1);
  options wishes;
  wishes.check = 3;
  for (auto const& c : cases) {
    product<T> x(50, 7, c.k, layout::columns, layout::columns, layout::columns);
    x.alpha = c.alpha, x.beta = c.beta;
    x.A.fill(random);
    x.B.fill(random);
    for (std::int64_t i = 0; i < x.m(); ++i) {
      for (std::int64_t p = 0; p < c.k; ++p) x.A(i, p) *= std::ldexp(least, c.exponent);
      for (std::int64_t j = 0; j < x.n(); ++j) x.C0(i, j) = T(2 * below(random, 4) + 1) * least;
    }
    x.reset();
    CAPTURE(c.alpha, c.beta, c.k);
    sampled_check<T> check({x.alpha, x.A.read(), x.B.read(), x.beta, x.C.view()}, 3);
    report const r = gemm(workers, x.alpha, x.A.read(), x.B.read(), x.beta, x.C.view(), wishes);
    REQUIRE(r.check);
    CHECK(r.check->passed);
    x.C(3, 4) += T(50 * (c.k + 2)) * least;
    CHECK_FALSE(check.judge(r.plan).passed);
  }
}

TEST_CASE("rows whose exact result is not finite are not judged") {
  generator random(5);
  context workers(2);
  product<double> x(100, 90, 80, layout::columns, layout::columns, layout::columns);
  x.A.fill(random);
  x.B.fill(random);
  x.A(17, 3) = HUGE_VAL;
  x.reset();
  options wishes;
  wishes.check = 2;
  report const r = gemm(workers, 1.0, x.A.read(), x.B.read(), 0.0, x.C.view(), wishes);
  REQUIRE(r.check);
  CHECK(r.check->passed);
  CHECK(std::isfinite(r.check->observed));
}

TEST_CASE("elements and factors that are not finite neither fail a right result nor let a wrong one pass") {
  generator random(6);
  context workers(2);
  options wishes;
  wishes.check = 1;
  for (double const bad : {HUGE_VAL, std::nan("")}) {
    product<double> x(100, 90, 80, layout::columns, layout::columns, layout::columns);
    x.beta = -0.7;
    x.A.fill(random);
    x.B.fill(random);
    x.C0.fill(random);
    auto const run = [&] {
      x.reset();
      report const r = gemm(workers, x.alpha, x.A.read(), x.B.read(), x.beta, x.C.view(), wishes);
      REQUIRE(r.check);
      CHECK(r.check->passed);
      CHECK(std::isfinite(r.check->limit));
      return r.plan;
    };
    INFO(bad);
    x.A(17, 3) = bad;
    x.C0(40, 5) = bad;
    x.reset();
    sampled_check<double> check({x.alpha, x.A.read(), x.B.read(), x.beta, x.C.view()}, 1);
    plan const how = run();
    CHECK(check.judge(how).passed);
    x.C(18, 3) += 1e-3;
    CHECK_FALSE(check.judge(how).passed);
    x.B.set(0);  // an infinity times 0
    (void)run();
    x.B(5, 6) = bad;
    (void)run();
    x.B(5, 6) = 1;
    x.A(17, 3) = x.C0(40, 5) = 0;
    x.alpha = bad;
    (void)run();
    x.alpha = 1, x.beta = bad;
    (void)run();
    product<double> nothing(10, 9, 0, layout::columns, layout::columns, layout::columns);
    nothing.alpha = bad, nothing.beta = 2;
    nothing.C0.fill(random);
    nothing.reset();
    sampled_check<double> of_scaled({bad, nothing.A.read(), nothing.B.read(), 2, nothing.C.view()}, 1);
    report const scaled = gemm(workers, bad, nothing.A.read(), nothing.B.read(), 2.0, nothing.C.view(), wishes);
    CHECK(scaled.check->passed);
    nothing.C(3, 4) += 1;
    CHECK_FALSE(of_scaled.judge(scaled.plan).passed);
  }
}

TEST_CASE("a product without elements passes every check at no price, whatever the other side") {
  context workers(1);
  options wishes;
  wishes.check = 1000;
  double element = 0;
  for (std::int64_t const side : {std::int64_t{1} << 40, std::numeric_limits<std::int64_t>::max()})
    for (std::int64_t const k : {std::int64_t{0}, std::int64_t{5}}) {
      if (k > 0 && side > std::int64_t{1} << 50) continue;  // no such B
      INFO("n = " << side << ", k = " << k);
      matrix_view<double> const C{&element, 0, side, 1, 1};
      report const r = gemm<double>(workers, 1, {&element, 0, k, 1, 1}, {&element, k, side, 1, 5}, 0, C, wishes);
      REQUIRE(r.check);
      CHECK(r.check->passed);
      report const other =
          gemm<double>(workers, 1, {&element, side, k, 5, 1}, {&element, k, 0, 1, 1}, 0, C.transposed(), wishes);
      REQUIRE(other.check);
      CHECK(other.check->passed);
    }
}

TEST_CASE("a check for which there is no memory is refused, with C as it was") {
  context workers(1);
  options wishes;
  wishes.check = std::numeric_limits<int>::max();
  double element = 7;
  // One row of which all elements but one lie beyond the end: nothing reads them.
  matrix_view<double> const C{&element, 1, std::int64_t{1} << 50, 1, 1};
  try {
    (void)gemm<double>(workers, 0, {nullptr, 1, 1, 1, 1}, {nullptr, 1, C.cols, 1, 1}, 1, C, wishes);
    FAIL("it was checked");
  } catch (error const& e) {
    CHECK(e.code() == status::out_of_memory);
  }
  CHECK(element == 7);
}
