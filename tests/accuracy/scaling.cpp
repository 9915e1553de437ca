// SPDX-License-Identifier: BSD-3-Clause
// Diagonal scaling gives small rows and columns of C back the digits that levels take from them.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <utility>

#include "tests/accuracy/random_product.hpp"

using namespace heptad;
using namespace heptad::test;

namespace {

/// The largest error of an element over Σ |a| |b| of its own.
template <typename T>
double componentwise_error(product<T> const& x) {
  auto const reference = exact(x);
  double worst = 0;
  for (std::int64_t j = 0; j < x.n(); ++j)
    for (std::int64_t i = 0; i < x.m(); ++i) {
      long double size = std::abs(static_cast<long double>(x.beta) * x.C0(i, j));
      for (std::int64_t l = 0; l < x.k(); ++l)
        size += std::abs(static_cast<long double>(x.alpha) * x.A(i, l) * x.B(l, j));
      auto const error =
          static_cast<double>(std::abs(reference[static_cast<std::size_t>(j * x.m() + i)] - x.C(i, j)) / size);
      if (!(error <= worst)) worst = error;
    }
  return worst;
}

enum class spread { outside, inside, both, none };

template <typename T>
product<T> spread_product(spread how, T beta, layout each) {
  generator random(7);
  std::int64_t const n = 96;
  product<T> x(n, n, n, each, each, each);
  x.alpha = T(0.7);
  x.beta = beta;
  auto const power = [&] { return std::pow(2.0, std::floor(uniform(random, -20, 20))); };
  std::vector<double> rows(n, 1), cols(n, 1), inner(n, 1);
  if (how == spread::outside || how == spread::both)
    for (int i = 0; i < n; ++i) rows[i] = power(), cols[i] = power();
  if (how == spread::inside || how == spread::both)
    for (double& l : inner) l = power();
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      x.A(i, j) = static_cast<T>(uniform(random, -1, 1) * rows[i] * inner[j]);
      x.B(i, j) = static_cast<T>(uniform(random, -1, 1) / inner[i] * cols[j]);
      x.C0(i, j) = static_cast<T>(uniform(random, -1, 1) * rows[i] * cols[j]);
    }
  return x;
}

template <typename T>
std::pair<report, double> run(product<T>& x, scaling_kind scaling) {
  context workers(2);
  options forced;
  forced.force_levels = 2;
  forced.scaling = scaling;
  x.reset();
  report r = gemm(workers, x.alpha, x.A.read(), x.B.read(), x.beta, x.C.view(), forced);
  CHECK(r.plan.levels.size() == 2);
  CHECK(x.C.strays() == 0);
  return {r, componentwise_error(x)};
}

}  // namespace

TEMPLATE_TEST_CASE("scaling recovers the digits of small elements, in every layout", "", double, float) {
  using T = TestType;
  double const u = std::numeric_limits<T>::epsilon() / 2;
  struct expectation {
    spread data;
    scaling_kind enough;
  };
  for (auto const& [data, enough] : {expectation{spread::outside, scaling_kind::outside},
                                     {spread::inside, scaling_kind::inside},
                                     {spread::both, scaling_kind::both}})
    for (T const beta : {T(0), T(2)})
      for (layout const each : {layout::columns, layout::rows, layout::spread}) {
        product<T> x = spread_product<T>(data, beta, each);
        INFO(static_cast<int>(data) << ", beta " << beta << ", layout " << static_cast<int>(each));
        CHECK(run(x, scaling_kind::none).second > 1000 * u);
        auto const [r, error] = run(x, enough);
        CHECK(r.scaling == enough);
        CHECK(error < 100 * u);
        auto const [automatic, same_error] = run(x, scaling_kind::automatic);
        CHECK(automatic.scaling == enough);
        CHECK(same_error == error);
      }
}

TEMPLATE_TEST_CASE("numbers of one size are not scaled, and scaling them changes no more than rounding", "", double,
                   float) {
  using T = TestType;
  product<T> x = spread_product<T>(spread::none, T(0), layout::columns);
  CHECK(run(x, scaling_kind::automatic).first.scaling == scaling_kind::none);
  for (auto const kind : {scaling_kind::outside, scaling_kind::inside, scaling_kind::both}) {
    auto const [r, error] = run(x, kind);
    CHECK(r.scaling == kind);
    CHECK(error < 100 * std::numeric_limits<T>::epsilon() / 2);
  }
}

TEMPLATE_TEST_CASE("rows of zeros and numbers at the ends of the range can be scaled", "", double, float) {
  using T = TestType;
  using limits = std::numeric_limits<T>;
  product<T> x = spread_product<T>(spread::none, T(0), layout::columns);
  x.alpha = 1;
  double const most = std::sqrt(static_cast<double>(limits::max()));
  for (int j = 0; j < 96; ++j) {
    x.A(3, j) = 0;
    x.B(j, 5) = 0;
    x.A(7, j) = static_cast<T>(x.A(7, j) * most / 100);
    x.B(j, 9) = static_cast<T>(x.B(j, 9) * most / 100);
    x.A(11, j) = static_cast<T>(x.A(11, j) / most * 4);
  }
  auto const [r, error] = run(x, scaling_kind::outside);
  CHECK(r.scaling == scaling_kind::outside);
  int not_zero = 0;
  for (int i = 0; i < 96; ++i) not_zero += (x.C(3, i) != 0) + (x.C(i, 5) != 0);
  CHECK(not_zero == 0);
  auto const reference = exact(x);
  for (int i : {7, 11, 20})
    for (int j : {9, 20})
      CHECK(static_cast<double>(x.C(i, j)) ==
            Approx(static_cast<double>(reference[static_cast<std::size_t>(j * 96 + i)]))
                .epsilon(sizeof(T) == 8 ? 1e-9 : 1e-2));
}

TEMPLATE_TEST_CASE("nothing overflows on its way back that the triple loop leaves finite", "", double, float) {
  using T = TestType;
  T const most = std::numeric_limits<T>::max();
  context workers(2);
  for (T const beta : {T(0), T(-0.7)})
    for (auto const wish : {scaling_kind::outside, scaling_kind::both, scaling_kind::automatic}) {
      product<T> x = spread_product<T>(spread::none, beta, layout::columns);
      x.alpha = 1;
      for (int i = 0; i < 96; ++i) x.A(i, 40) = T(i % 2 == 0 ? 1 : -1);
      x.B(40, 7) = most;  // column 7 of C is the largest number, but for its sign
      options forced;
      forced.force_levels = 2;
      forced.scaling = wish;
      x.reset();
      report const r = gemm(workers, x.alpha, x.A.read(), x.B.read(), x.beta, x.C.view(), forced);
      INFO("beta " << beta << ", scaling " << static_cast<int>(wish));
      int wrong = 0;
      for (int i = 0; i < 96; ++i) wrong += x.C(i, 7) != (i % 2 == 0 ? most : -most);
      CHECK(wrong == 0);
      CHECK(r.plan.levels.empty());
      CHECK(r.scaling == scaling_kind::none);
      CHECK(r.precaution == "elements of C could overflow when they are scaled back");
      // With room for 96 products, or for none of them to move the largest C, it is scaled.
      x.B(40, 7) = beta == 0 ? most / 1024 : static_cast<T>(most * std::numeric_limits<T>::epsilon() / 2048);
      x.reset();
      CHECK(gemm(workers, x.alpha, x.A.read(), x.B.read(), x.beta, x.C.view(), forced).scaling != scaling_kind::none);
    }
}

TEST_CASE("without room for copies nothing is scaled") {
  product<double> x = spread_product<double>(spread::outside, 0, layout::columns);
  context workers(2);
  options wishes;
  wishes.force_levels = 1;
  wishes.max_workspace = 0;
  x.reset();
  report const r = gemm(workers, x.alpha, x.A.read(), x.B.read(), x.beta, x.C.view(), wishes);
  CHECK(r.plan.levels.size() == 1);
  CHECK(r.scaling == scaling_kind::none);
}
