// SPDX-License-Identifier: BSD-3-Clause
// NaN and infinities are where a triple loop puts them, whatever the levels, and nothing overflows that need not.
#include <catch2/catch.hpp>
#include <cfenv>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <utility>

#include "src/algorithm/algorithm.hpp"
#include "tests/accuracy/random_product.hpp"

using namespace heptad;
using namespace heptad::test;

namespace {

template <typename T>
constexpr element_type type_of = sizeof(T) == 8 ? element_type::f64 : element_type::f32;

enum class what { finite, nan, positive_infinity, negative_infinity };

template <typename X>
what kind_of(X x) {
  if (std::isnan(x)) return what::nan;
  if (std::isinf(x)) return x > 0 ? what::positive_infinity : what::negative_infinity;
  return what::finite;
}

/// Elements of C that are not what they must be, and the largest error of the finite ones over what is allowed.
template <typename T>
struct judgement {
  int misplaced = 0;
  double worst = 0;
};

template <typename T>
judgement<T> judge(product<T> const& x, std::vector<long double> const& reference, plan const& how) {
  double const allowed = allowed_error(x, how);
  judgement<T> result;
  for (std::int64_t j = 0; j < x.n(); ++j)
    for (std::int64_t i = 0; i < x.m(); ++i) {
      long double const wanted = reference[static_cast<std::size_t>(j * x.m() + i)];
      T const got = x.C(i, j);
      what const kind = kind_of(static_cast<T>(wanted));
      if (kind_of(got) != kind) ++result.misplaced;
      else if (kind == what::finite)
        result.worst = std::max(result.worst, static_cast<double>(std::abs(wanted - got)) / allowed);
    }
  return result;
}

/// How one family of operands is made: A, B and C0 are filled with uniform numbers from [−1, 1] before.
template <typename T>
using planting = std::function<void(product<T>&, generator&)>;

template <typename T>
T& anywhere(padded_matrix<T>& X, generator& random) {
  return X(below(random, X.view().rows), below(random, X.view().cols));
}
/// The corners and edges: where the fringes of the levels begin and end.
template <typename T>
T& at_an_edge(padded_matrix<T>& X, generator& random) {
  std::int64_t const m = X.view().rows, n = X.view().cols;
  bool const last_row = below(random, 2) == 0;
  return X(last_row ? m - 1 : below(random, m), last_row ? below(random, n) : n - 1);
}

template <typename T>
void multiply_all(padded_matrix<T>& X, double factor) {
  for (std::int64_t j = 0; j < X.view().cols; ++j)
    for (std::int64_t i = 0; i < X.view().rows; ++i) X(i, j) = static_cast<T>(X(i, j) * factor);
}
template <typename T>
void absolute(padded_matrix<T>& X) {
  for (std::int64_t j = 0; j < X.view().cols; ++j)
    for (std::int64_t i = 0; i < X.view().rows; ++i) X(i, j) = std::abs(X(i, j));
}

/// Runs products of one family by random plans, and by the planner with every scheduler. `caught`: of the plans with
/// levels, those whose levels were not run.
template <typename T>
int check_family(std::string const& name, planting<T> const& plant, int cases) {
  context workers(3);
  generator random(std::hash<std::string>{}(name));
  int caught = 0;
  for (int c = 0; c < cases; ++c) {
    product<T> x = random_product<T>(random, 70);
    x.A.fill(random);
    x.B.fill(random);
    x.C0.fill(random);
    plant(x, random);
    auto const reference = exact(x);
    report r;
    x.reset();
    if (c % 2 == 0) {
      plan const how = random_plan(random, type_of<T>, x.shape());
      r = gemm(workers, how, x.alpha, x.A.read(), x.B.read(), x.beta, x.C.view());
      caught += !how.levels.empty() && r.plan.levels.empty();
    } else {
      options forced;
      forced.force_levels = 1 + c / 2 % 3;
      forced.scheduler = c / 2 % 2 == 0 ? scheduler_kind::sequential : scheduler_kind::tbb;
      if (c / 4 % 2 == 0) forced.max_workspace = 0;  // fused levels alone
      r = gemm(workers, x.alpha, x.A.read(), x.B.read(), x.beta, x.C.view(), forced);
      caught += !r.precaution.empty();
    }
    auto const found = judge(x, reference, r.plan);
    INFO(name << ", case " << c << ": " << x.m() << " x " << x.n() << " x " << x.k() << ", alpha " << x.alpha
              << ", beta " << x.beta << ", " << r.plan.levels.size() << " levels, " << r.precaution << ", "
              << r.plan.reason);
    CHECK(x.C.strays() == 0);
    CHECK(found.misplaced == 0);
    CHECK(found.worst <= 1);
    if (found.misplaced > 0 || !(found.worst <= 1)) break;
  }
  return caught;
}

}  // namespace

TEMPLATE_TEST_CASE("NaN and infinities in A and B reach the elements that the triple loop gives them", "", double,
                   float) {
  using T = TestType;
  using limits = std::numeric_limits<T>;
  T const specials[] = {limits::quiet_NaN(), limits::infinity(), -limits::infinity()};
  auto const some = [&](generator& random) { return specials[below(random, 3)]; };
  CHECK(check_family<T>(
            "one anywhere", [&](auto& x, auto& g) { anywhere(below(g, 2) ? x.A : x.B, g) = some(g); }, 60) > 40);
  CHECK(check_family<T>(
            "one at an edge", [&](auto& x, auto& g) { at_an_edge(below(g, 2) ? x.A : x.B, g) = some(g); }, 60) > 40);
  CHECK(check_family<T>(
            "several that meet zeros",
            [&](auto& x, auto& g) {
              for (int s = 0; s < 4; ++s) {
                anywhere(x.A, g) = some(g);
                anywhere(x.B, g) = some(g);
                anywhere(x.A, g) = 0;
                anywhere(x.B, g) = -T(0);
              }
            },
            60) > 40);
}

TEMPLATE_TEST_CASE("NaN and infinities of C stay where they are", "", double, float) {
  using T = TestType;
  using limits = std::numeric_limits<T>;
  T const specials[] = {limits::quiet_NaN(), limits::infinity(), -limits::infinity()};
  // With levels: an FMM adds to a block of C, and never mixes two.
  CHECK(check_family<T>(
            "in C alone",
            [&](auto& x, auto& g) {
              if (x.beta == 0) x.beta = T(-0.7);
              for (int s = 0; s < 3; ++s) anywhere(x.C0, g) = specials[below(g, 3)];
            },
            80) == 0);
  check_family<T>(
      "in C, A and B",
      [&](auto& x, auto& g) {
        anywhere(x.C0, g) = specials[below(g, 3)];
        anywhere(x.A, g) = specials[below(g, 3)];
        anywhere(x.B, g) = specials[below(g, 3)];
      },
      40);
}

TEMPLATE_TEST_CASE("factors that are not finite act as in the triple loop", "", double, float) {
  using T = TestType;
  using limits = std::numeric_limits<T>;
  T const specials[] = {limits::quiet_NaN(), limits::infinity(), -limits::infinity()};
  CHECK(check_family<T>(
            "alpha", [&](auto& x, auto& g) { x.alpha = specials[below(g, 3)]; }, 40) > 25);
  check_family<T>(
      "beta", [&](auto& x, auto& g) { x.beta = specials[below(g, 3)]; }, 40);
}

TEMPLATE_TEST_CASE("sums and products of levels do not overflow where the triple loop does not", "", double, float) {
  using T = TestType;
  double const most = std::numeric_limits<T>::max();
  CHECK(check_family<T>(
            "sums",
            [&](auto& x, auto&) {
              x.alpha = 1;
              multiply_all(x.A, 0.9 * most);
              multiply_all(x.B, 1e-6);
            },
            60) > 40);
  CHECK(check_family<T>(
            "products of positive numbers, some infinite",
            [&](auto& x, auto& g) {
              x.alpha = 1;
              x.beta = 0;
              absolute(x.A);
              absolute(x.B);
              double const root = std::sqrt(most);
              multiply_all(x.A, root);
              multiply_all(x.B, root / uniform(g, 1, 30));
            },
            60) > 40);
  CHECK(check_family<T>(
            "C near the largest number",
            [&](auto& x, auto&) {
              if (x.beta == 0) x.beta = 1;
              x.alpha = 1;
              x.beta = x.beta > 0 ? T(1) : T(-1);
              multiply_all(x.C0, 0.99 * most);
              double const size = std::sqrt(most / 1e4 / static_cast<double>(x.k()));
              multiply_all(x.A, size);
              multiply_all(x.B, size);
            },
            60) > 40);
}

TEMPLATE_TEST_CASE("subnormal numbers lose no more than the bound says", "", double, float) {
  using T = TestType;
  using limits = std::numeric_limits<T>;
  double const least = limits::min();
  CHECK(check_family<T>(
            "subnormal A", [&](auto& x, auto&) { multiply_all(x.A, least / 8); }, 60) > 40);
  CHECK(check_family<T>(
            "products below the normal range",
            [&](auto& x, auto&) {
              multiply_all(x.A, std::sqrt(least));
              multiply_all(x.B, std::sqrt(least) / 16);
            },
            60) > 40);
  // Small numbers beside ordinary ones are within the bound of the norm: no precaution.
  CHECK(check_family<T>(
            "a few subnormal ones",
            [&](auto& x, auto& g) {
              for (int s = 0; s < 5; ++s) anywhere(x.A, g) = static_cast<T>(least / 3);
            },
            40) <= 3);
}

TEMPLATE_TEST_CASE("alpha near the ends of the range loses no digits to the coefficients of levels", "", double,
                   float) {
  using T = TestType;
  using limits = std::numeric_limits<T>;
  context workers(2);
  generator random(4);
  double const root = std::sqrt(static_cast<double>(limits::max())) / 4096;
  for (char const* name : {"fewest444", "fewest336"})
    for (auto const kind : {level_kind::task, level_kind::explicit_passes, level_kind::fused})
      for (auto const& [alpha, size] : {std::pair{limits::denorm_min(), root},
                                        {20 * limits::denorm_min(), root},
                                        {-limits::min(), root},
                                        {T(0.9) * limits::max(), 1 / root}}) {
        auto const n = 7 + below(random, 80);
        product<T> x(n + 5, n, n + 3, layout::columns, layout::rows, layout::columns);
        x.alpha = alpha;
        x.A.fill(random);
        x.B.fill(random);
        multiply_all(x.A, size);
        multiply_all(x.B, size);
        plan how;
        how.type = type_of<T>;
        how.shape = x.shape();
        how.levels.push_back({name, kind, find_algorithm(name)});
        how.pads = {below(random, 2) == 0, below(random, 2) == 0, below(random, 2) == 0};
        x.reset();
        report const r = gemm(workers, how, x.alpha, x.A.read(), x.B.read(), x.beta, x.C.view());
        auto const found = judge(x, exact(x), r.plan);
        INFO(name << " of kind " << static_cast<int>(kind) << ", n = " << n << ", alpha " << alpha << ", "
                  << r.precaution);
        CHECK(found.misplaced == 0);
        CHECK(found.worst <= 1);
      }
}

namespace {

/// A product of which sums of blocks of A overflow, and a plan of one level that makes them.
template <typename T>
struct overflowing_sums {
  static constexpr std::int64_t n =
      192;  // whole tiles of all kernels: a zero that fills one up, times infinity, is invalid
  product<T> x{n, n, n, layout::columns, layout::columns, layout::columns};
  plan how;

  explicit overflowing_sums(level_kind kind) {
    generator random(5);
    x.beta = T(0);
    x.A.fill(random);
    x.B.fill(random);
    multiply_all(x.B, 1e-3);
    for (std::int64_t const i : {std::int64_t{30}, 30 + n / 2})
      for (std::int64_t const j : {std::int64_t{30}, 30 + n / 2}) x.A(i, j) = std::numeric_limits<T>::max() * T(0.75);
    how.type = type_of<T>;
    how.shape = x.shape();
    how.levels.push_back({"strassen", kind, find_algorithm("strassen")});
    how.workers = 2;
    how.strips = 4;
  }
  report run(context& workers) {
    x.reset();
    return gemm(workers, how, x.alpha, x.A.read(), x.B.read(), x.beta, x.C.view());
  }
};

constexpr int of_mistakes = FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW;

/// While it lives, these end the process with SIGFPE.
struct traps {
  traps() { std::feclearexcept(FE_ALL_EXCEPT), feenableexcept(of_mistakes); }
  ~traps() { fedisableexcept(of_mistakes); }
  traps(traps const&) = delete;
  traps& operator=(traps const&) = delete;
};

}  // namespace

TEMPLATE_TEST_CASE("where sums of blocks overflow that no product uses, no flag is left raised", "", double, float) {
  context alone(1);
  for (auto const kind : {level_kind::task, level_kind::explicit_passes, level_kind::fused}) {
    CAPTURE(static_cast<int>(kind));
    overflowing_sums<TestType> x(kind);
    std::feclearexcept(FE_ALL_EXCEPT);
    report const r = x.run(alone);
    CHECK((!r.precaution.empty() || r.scaling != scaling_kind::none));
    CHECK(std::fetestexcept(of_mistakes) == 0);
  }
}

TEMPLATE_TEST_CASE("where exceptions are trapped, sums of blocks that no product uses spring none", "", double, float) {
  using T = TestType;
  for (int const threads : {1, 2}) {
    context workers(threads);
    for (auto const kind : {level_kind::task, level_kind::explicit_passes, level_kind::fused}) {
      CAPTURE(threads, static_cast<int>(kind));
      overflowing_sums<T> large(kind), infinite(kind);
      for (std::int64_t const i : {std::int64_t{30}, 30 + infinite.n / 2})
        infinite.x.A(i, 30) = std::numeric_limits<T>::infinity();
      for (overflowing_sums<T>* const x : {&large, &infinite}) {
        traps const set;
        report const r = x->run(workers);
        CHECK((!r.precaution.empty() || r.scaling != scaling_kind::none));
        CHECK(fegetexcept() == of_mistakes);
      }
    }
  }
}

TEST_CASE("the report says why no level was run") {
  context workers(2);
  generator random(1);
  product<double> x(200, 200, 200, layout::columns, layout::columns, layout::columns);
  x.A.fill(random);
  x.B.fill(random);
  options forced;
  forced.force_levels = 1;
  auto const run = [&] {
    x.reset();
    return gemm(workers, x.alpha, x.A.read(), x.B.read(), x.beta, x.C.view(), forced);
  };
  report r = run();
  CHECK(r.plan.levels.size() == 1);
  CHECK(r.precaution.empty());
  CHECK(r.precaution_seconds > 0);
  x.B(3, 199) = std::nan("");
  r = run();
  CHECK(r.plan.levels.empty());
  CHECK(r.precaution == "B holds NaN");
  CHECK(r.plan.reason == "classical: B holds NaN");

  // The caller's names also where Cᵀ = Bᵀ Aᵀ is run.
  auto const D = x.A.read().transposed();
  std::vector<double> E(static_cast<std::size_t>(x.B.read().cols * x.A.read().rows));
  r = gemm(workers, 1.0, x.B.read().transposed(), D, 0.0,
           row_major(E.data(), x.B.read().cols, x.A.read().rows, x.A.read().rows), forced);
  CHECK(r.precaution == "A holds NaN");
}
