// SPDX-License-Identifier: BSD-3-Clause
// The proved bound holds for every algorithm, composition, kind of level and kind of numbers that one can think of, the
// likely one for entries of random sign, where it is no more than a hundred times the error.
// HEPTAD_ACCURACY_CASES sets how many products are tried.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "tests/accuracy/random_product.hpp"

using namespace heptad;
using namespace heptad::test;

namespace {

template <typename T>
void for_each(padded_matrix<T>& X, auto const& change) {
  for (std::int64_t j = 0; j < X.view().cols; ++j)
    for (std::int64_t i = 0; i < X.view().rows; ++i) X(i, j) = static_cast<T>(change(i, j));
}

template <typename T>
struct family {
  char const* name;
  void (*fill)(product<T>&, generator&);
  bool random_signs = false;  // independent entries of mean zero
};

std::vector<double> powers(generator& random, std::int64_t count, double decades) {
  std::vector<double> result(static_cast<std::size_t>(count));
  for (double& x : result) x = std::pow(10.0, uniform(random, -decades, decades));
  return result;
}

template <typename T>
std::vector<family<T>> const& families() {
  static std::vector<family<T>> const all{
      {"uniform ±",
       [](auto& x, auto& g) {
         x.A.fill(g);
         x.B.fill(g);
       },
       true},
      {"positive",
       [](auto& x, auto& g) {
         x.A.fill(g, 0, 1);
         x.B.fill(g, 0, 1);
       }},
      {"signs: every sum as large as it can be",
       [](auto& x, auto& g) {
         for_each(x.A, [&](auto, auto) { return below(g, 2) ? 1.0 : 1 - 1e-7; });
         for_each(x.B, [&](auto, auto) { return below(g, 2) ? 1.0 : -1 + 1e-7; });
       }},
      {"badly scaled rows and columns",
       [](auto& x, auto& g) {
         auto const rows = powers(g, x.m(), 6), cols = powers(g, x.n(), 6);
         for_each(x.A, [&](auto i, auto) { return uniform(g, -1, 1) * rows[static_cast<std::size_t>(i)]; });
         for_each(x.B, [&](auto, auto j) { return uniform(g, -1, 1) * cols[static_cast<std::size_t>(j)]; });
       }},
      {"badly scaled inside",
       [](auto& x, auto& g) {
         auto const inner = powers(g, x.k(), 4);
         for_each(x.A, [&](auto, auto l) { return uniform(g, -1, 1) * inner[static_cast<std::size_t>(l)]; });
         for_each(x.B, [&](auto l, auto) { return uniform(g, -1, 1) / inner[static_cast<std::size_t>(l)]; });
       }},
      {"cancelling",
       [](auto& x, auto& g) {
         x.A.fill(g);
         x.B.fill(g);
         std::int64_t const half = x.k() / 2;
         for_each(x.A, [&](auto i, auto l) { return l >= half && l - half < half ? x.A(i, l - half) : x.A(i, l); });
         for_each(x.B, [&](auto l, auto j) {
           return l >= half && l - half < half ? -x.B(l - half, j) * (1 + uniform(g, -1e-6, 1e-6)) : x.B(l, j);
         });
       }},
      {"low rank",
       [](auto& x, auto& g) {
         std::vector<double> const a = powers(g, x.m(), 0.5), b = powers(g, x.k(), 0.5), c = powers(g, x.n(), 0.5);
         auto const at = [](auto const& v, auto i) { return v[static_cast<std::size_t>(i)]; };
         for_each(x.A, [&](auto i, auto l) { return at(a, i) * at(b, l); });
         for_each(x.B, [&](auto l, auto j) { return (l % 2 ? -1 : 1) * at(b, l) * at(c, j); });
       }},
      {"subnormal",
       [](auto& x, auto& g) {
         double const least = static_cast<double>(std::numeric_limits<T>::min());
         for_each(x.A, [&](auto, auto) { return uniform(g, -1, 1) * (below(g, 2) ? least : 1); });
         for_each(x.B, [&](auto, auto) { return uniform(g, -1, 1) * std::sqrt(least); });
       }},
      {"huge",
       [](auto& x, auto& g) {
         double const most = static_cast<double>(std::numeric_limits<T>::max());
         double const size = std::sqrt(most / 1e7);
         for_each(x.A, [&](auto, auto) { return uniform(g, -1, 1) * size; });
         for_each(x.B, [&](auto, auto) { return uniform(g, -1, 1) * size; });
       }},
      {"blocks of one sign against another, where sums of blocks cancel",
       [](auto& x, auto& g) {
         for_each(x.A,
                  [&](auto i, auto l) { return (2 * i / x.m() + 2 * l / x.k()) % 2 ? 1.0 : -1 + uniform(g, 0, 1e-3); });
         for_each(x.B,
                  [&](auto l, auto j) { return (2 * l / x.k() + 2 * j / x.n()) % 2 ? 1.0 : -1 + uniform(g, 0, 1e-3); });
       }},
  };
  return all;
}

struct tally {
  long cases = 0;
  double worst = 0;         // error over what is allowed
  double worst_likely = 0;  // over what is likely
};

/// Of the elements of C; NaN stays.
template <typename T>
long double largest_error(product<T> const& x) {
  auto const reference = exact(x);
  long double error = 0;
  for (std::int64_t j = 0; j < x.n(); ++j)
    for (std::int64_t i = 0; i < x.m(); ++i) {
      long double const e = std::abs(reference[static_cast<std::size_t>(j * x.m() + i)] - x.C(i, j));
      if (!(e <= error)) error = e;
    }
  return error;
}

/// What is allowed with the likely bound in place of the proved one.
template <typename T>
double likely_error(product<T> const& x, plan how) {
  how.bound = how.likely_bound;
  return allowed_error(x, how);
}

template <typename T>
void sweep(long cases, std::map<std::string, tally>& tallies) {
  context workers(2);
  generator random(20261120);
  for (long c = 0; c < cases; ++c) {
    auto const& kind = families<T>()[static_cast<std::size_t>(c) % families<T>().size()];
    product<T> x = random_product<T>(random, c % 50 == 0 ? 160 : 56);
    x.C0.fill(random);
    kind.fill(x, random);
    plan const how = random_plan(random, sizeof(T) == 8 ? element_type::f64 : element_type::f32, x.shape());
    x.reset();
    report const r = gemm(workers, how, x.alpha, x.A.read(), x.B.read(), x.beta, x.C.view());
    auto const error = static_cast<double>(largest_error(x));
    double const share = error / allowed_error(x, r.plan);
    tally& t = tallies[kind.name];
    ++t.cases;
    if (!(share <= t.worst)) t.worst = share;
    if (kind.random_signs) t.worst_likely = std::max(t.worst_likely, error / likely_error(x, r.plan));
    if (share <= 1) continue;
    std::string levels;
    for (plan_level const& l : r.plan.levels) levels += l.name + "/" + std::to_string(static_cast<int>(l.kind)) + " ";
    FAIL(kind.name << ", case " << c << ": " << share << " of the bound; " << x.m() << " x " << x.n() << " x " << x.k()
                   << ", alpha " << x.alpha << ", beta " << x.beta << ", levels " << levels);
  }
}

long wanted_cases() {
  char const* const text = std::getenv("HEPTAD_ACCURACY_CASES");
  return text == nullptr ? 3000 : std::atol(text);
}

}  // namespace

TEST_CASE("no error is above the proved bound") {
  std::map<std::string, tally> tallies;
  long const cases = wanted_cases();
  sweep<double>(cases / 2, tallies);
  sweep<float>(cases - cases / 2, tallies);
  long total = 0;
  for (auto const& [name, t] : tallies) {
    total += t.cases;
    std::printf("%-64s %7ld cases, error at most %8.2g of the bound\n", name.c_str(), t.cases, t.worst);
    if (t.worst_likely > 0) std::printf("%-64s %22s at most %8.2g of the likely bound\n", "", "", t.worst_likely);
    CHECK(t.worst <= 1);
    CHECK(t.worst_likely <= 1);
    CHECK(t.worst > 0);
  }
  CHECK(total == cases);
}

TEMPLATE_TEST_CASE("the likely bound of two levels is within a hundred times the error for entries of random sign", "",
                   double, float) {
  context workers(2);
  generator random(20261122);
  for (char const* const name : {"strassen", "winograd", "sparse233", "sparse333", "sparse336"}) {
    INFO(name);
    product<TestType> x(324, 324, 324, layout::columns, layout::columns, layout::columns);
    x.A.fill(random);
    x.B.fill(random);
    options wishes;
    wishes.algorithm = name;
    wishes.force_levels = 2;
    report const r = gemm(workers, x.alpha, x.A.read(), x.B.read(), x.beta, x.C.view(), wishes);
    double const times = likely_error(x, r.plan) / static_cast<double>(largest_error(x));
    CHECK(times >= 1);
    CHECK(times <= 100);
  }
}
