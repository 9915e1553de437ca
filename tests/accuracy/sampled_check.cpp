// SPDX-License-Identifier: BSD-3-Clause
// The check by random vectors accepts right results and finds planted errors.
#include "src/api/sampled_check.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

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
