// SPDX-License-Identifier: BSD-3-Clause
// heptad::gemm on views of every layout, with the options that steer the plan.
#include <fmt/format.h>

#include <heptad/tbb.hpp>

#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <string>

#include "src/api/present.hpp"
#include "tests/api/reference.hpp"

using heptad::test::largest_error;
using heptad::test::layout;
using heptad::test::padded_matrix;
using heptad::test::tolerance;
using heptad::test::under_test;

namespace {

template <typename T>
struct random_product {
  T alpha, beta;
  padded_matrix<T> A, B, C0, C;

  random_product(std::int64_t m, std::int64_t n, std::int64_t k, T alpha_, T beta_, layout a = layout::columns,
                 layout b = layout::columns, layout c = layout::columns)
      : alpha(alpha_), beta(beta_), A(m, k, a), B(k, n, b), C0(m, n, c), C(m, n, c) {
    std::mt19937 random(static_cast<unsigned>(m + 3 * n + 5 * k));
    A.fill(random);
    B.fill(random);
    C0.fill(random);
    reset();
  }
  void reset() {
    if (beta == T(0)) return C.set(std::numeric_limits<T>::quiet_NaN());
    for (std::int64_t i = 0; i < C.view().rows; ++i) {
      for (std::int64_t j = 0; j < C.view().cols; ++j) C(i, j) = C0(i, j);
    }
  }
  heptad::report run(heptad::context& workers, heptad::options const& wishes = {}) {
    reset();
    return heptad::gemm(workers, alpha, A.read(), B.read(), beta, C.view(), under_test(wishes));
  }
  /// Checks C against the reference under the bound that the report's plan carries.
  void check(heptad::report const& r) const {
    CHECK(C.strays() == 0);
    CHECK(largest_error(alpha, A, B, beta, C0, C) <= tolerance<T>(r.plan, alpha, beta));
  }
};

std::string message_of(auto const& call) {
  try {
    call();
  } catch (heptad::error const& e) {
    CHECK(e.code() == heptad::status::invalid_argument);
    return e.what();
  }
  return "no error";
}

}  // namespace

TEMPLATE_TEST_CASE("views of every layout agree with the triple loop", "", double, float) {
  heptad::context workers(2);
  heptad::options forced;
  forced.force_levels = 2;
  for (layout const a : {layout::columns, layout::rows, layout::spread}) {
    for (layout const b : {layout::columns, layout::rows, layout::spread}) {
      for (layout const c : {layout::columns, layout::rows, layout::spread}) {
        INFO("layouts " << int(a) << int(b) << int(c));
        random_product<TestType> small(21, 13, 34, TestType(-1), TestType(0.7), a, b, c);
        small.check(small.run(workers));
        random_product<TestType> large(150, 131, 97, TestType(0.7), TestType(0), a, b, c);
        large.check(large.run(workers, forced));
      }
    }
  }
}

TEMPLATE_TEST_CASE("views with negative strides agree with the triple loop", "", double, float) {
  heptad::context workers(2);
  using T = TestType;
  std::int64_t const n = 90;
  std::mt19937 random(3);
  padded_matrix<T> A(n, n, layout::columns), B(n, n, layout::columns), C(n, n, layout::columns);
  A.fill(random);
  B.fill(random);
  auto const flipped = [n](auto X) {  // rows in reverse order
    X.data += (n - 1) * X.row_stride;
    X.row_stride = -X.row_stride;
    return X;
  };
  heptad::options forced;
  forced.force_levels = GENERATE(-1, 1, 2);
  auto const r = heptad::gemm(workers, T(1), flipped(A.read()), B.read(), T(0), flipped(C.view()), under_test(forced));
  CHECK(C.strays() == 0);
  CHECK(largest_error(T(1), A, B, T(0), C, C) <= tolerance<T>(r.plan, 1, 0));
}

TEMPLATE_TEST_CASE("a stride along an extent of 1 may have any value, which nothing is multiplied by", "", double,
                   float) {
  heptad::context workers(2);
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  for (std::int64_t const stride : {least, -1 - (std::int64_t{1} << 61), std::int64_t{0}, -(least + 1)})
    for (auto const& [m, n, k] : {std::array{1, 90, 80}, {300, 1, 70}, {120, 130, 1}, {1, 1, 500}, {1, 1, 1}})
      for (layout const how : {layout::columns, layout::rows, layout::spread}) {
        INFO(m << " x " << n << " x " << k << ", stride " << stride << ", layout " << int(how));
        random_product<TestType> x(m, n, k, TestType(0.7), TestType(-1), how, how, how);
        auto const loose = [stride](auto X) {
          if (X.rows == 1 && X.row_stride != 1) X.row_stride = stride;
          if (X.cols == 1 && X.col_stride != 1) X.col_stride = stride;
          return X;
        };
        heptad::operands<TestType> const given{x.alpha, loose(x.A.read()), loose(x.B.read()), x.beta,
                                               loose(x.C.view())};
        auto const settled = heptad::present(given);
        heptad::operands<TestType> const tight{x.alpha, x.A.read(), x.B.read(), x.beta, x.C.view()};
        CHECK(heptad::shape_of(settled) == heptad::shape_of(heptad::present(tight)));
        for (std::int64_t const s : {settled.A.row_stride, settled.A.col_stride, settled.B.row_stride,
                                     settled.B.col_stride, settled.C.row_stride, settled.C.col_stride})
          CHECK((s > 0 && s < 2000));
        heptad::options wishes = under_test();
        wishes.check = 1;
        x.reset();
        heptad::report const r = heptad::gemm(workers, x.alpha, given.A, given.B, x.beta, given.C, wishes);
        CHECK(r.check->passed);
        x.check(r);
      }
}

TEMPLATE_TEST_CASE("any number of forced levels stays within its plan's bound on random odd shapes", "", double,
                   float) {
  heptad::context workers(3);
  std::mt19937 random(11);
  std::uniform_int_distribution<std::int64_t> size(1, 180);
  std::uniform_int_distribution<int> choice(0, 2);
  TestType const factors[] = {TestType(1), TestType(-1), TestType(0.7)};
  TestType const betas[] = {TestType(0), TestType(1), TestType(0.7)};
  for (int levels = 0; levels <= 4; ++levels) {
    for (int trial = 0; trial < 12; ++trial) {
      heptad::options forced;
      forced.force_levels = levels;
      forced.deterministic = trial % 2 == 0;
      forced.scheduler = trial % 3 == 0 ? heptad::scheduler_kind::sequential : heptad::scheduler_kind::tbb;
      if (trial % 4 == 0) forced.max_workspace = 0;
      auto const some = [&] { return static_cast<layout>(choice(random)); };
      random_product<TestType> x(size(random) | 1, size(random), size(random), factors[choice(random)],
                                 betas[choice(random)], some(), some(), some());
      INFO(levels << " levels, " << x.C.view().rows << " x " << x.C.view().cols << " x " << x.A.view().cols
                  << ", alpha " << x.alpha << ", beta " << x.beta);
      heptad::report const r = x.run(workers, forced);
      CHECK(r.plan.levels.size() <= static_cast<std::size_t>(levels));
      x.check(r);
    }
  }
}

TEST_CASE("small products are not planned: up to 160 cubed for one worker, and 64 cubed for several") {
  auto const planned = [](int threads, std::int64_t side) {
    heptad::context workers(threads);
    random_product<float> x(side, side, side, 1, 0);
    heptad::report const r = x.run(workers);
    x.check(r);
    return !r.plan.reason.starts_with("small: ");
  };
  CHECK((!planned(1, 160) && planned(1, 161)));
  CHECK((!planned(2, 64) && planned(2, 65)));
}

TEST_CASE("forced levels are really used where the dimensions allow") {
  heptad::context workers(2);
  for (int levels = 0; levels <= 3; ++levels) {
    heptad::options forced;
    forced.force_levels = levels;
    random_product<double> x(257, 261, 259, 1, 0);
    heptad::report const r = x.run(workers, forced);
    CHECK(r.plan.levels.size() == static_cast<std::size_t>(levels));
    x.check(r);
  }
}

TEST_CASE("every built-in algorithm by name stays within its bound") {
  heptad::context workers(2);
  char const* const name = GENERATE("strassen", "winograd", "huang323");
  for (int levels = 1; levels <= 2; ++levels) {
    heptad::options forced;
    forced.algorithm = name;
    forced.force_levels = levels;
    random_product<double> x(150, 152, 154, 0.7, -1);
    INFO(name);
    heptad::report const r = x.run(workers, forced);
    REQUIRE_FALSE(r.plan.levels.empty());
    CHECK(r.plan.levels.front().name.find(name) != std::string::npos);
    x.check(r);
  }
}

TEST_CASE("the workspace stays under its cap, and the report says what was held") {
  heptad::context workers(2);
  random_product<double> x(600, 600, 600, 1, 0);
  heptad::options wishes;
  wishes.force_levels = 2;
  std::size_t const wanted = x.run(workers, wishes).workspace;
  CHECK(wanted > 0);
  heptad::options classical;
  classical.max_levels = 0;
  std::size_t const least = x.run(workers, classical).workspace;  // packing alone
  for (std::size_t const cap : {wanted, wanted / 2, wanted / 4, std::size_t{0}}) {
    wishes.max_workspace = cap;
    heptad::report const r = x.run(workers, wishes);
    INFO("cap " << cap << ", classical packing " << least);
    CHECK(r.workspace <= std::max(cap, 2 * least));
    CHECK(r.workspace == r.plan.workspace);
    CHECK_FALSE(r.fell_back);
    x.check(r);
  }
}

TEST_CASE("a report adds up") {
  heptad::context workers(2);
  random_product<double> x(400, 300, 350, 1, 1);
  heptad::options forced;
  forced.force_levels = 1;
  heptad::report const r = x.run(workers, forced);
  CHECK(r.seconds > 0);
  CHECK(r.gflops == Approx(2.0 * 400 * 300 * 350 / r.seconds / 1e9));
  CHECK(r.tasks == r.plan.tasks);
  CHECK(r.tasks > 0);
  REQUIRE_FALSE(r.busy_seconds.empty());
  double busy = 0;
  for (double const seconds : r.busy_seconds) busy += seconds;
  CHECK(busy > 0);
  CHECK(r.idle_fraction == Approx(1 - busy / (static_cast<double>(r.busy_seconds.size()) * r.seconds)));
  CHECK_FALSE(r.plan.reason.empty());
  CHECK_FALSE(heptad::explain(r.plan).empty());
}

TEST_CASE("a plan made before runs the product of its shape and no other") {
  heptad::context workers(2);
  random_product<double> x(300, 260, 280, 1, 0, layout::columns, layout::rows, layout::rows);
  heptad::problem shape{300, 260, 280, false, true, true, true};
  heptad::options forced;
  forced.force_levels = 2;
  heptad::plan const how = heptad::make_plan<double>(workers, shape, forced);
  CHECK(how.levels.size() == 2);
  heptad::report const r = heptad::gemm(workers, how, 1.0, x.A.read(), x.B.read(), 0.0, x.C.view());
  x.check(r);
  CHECK(message_of([&] {
          heptad::gemm(workers, how, 1.0, x.A.read().block(0, 0, 299, 280), x.B.read(), 0.0,
                       x.C.view().block(0, 0, 299, 260));
        }).starts_with("plan.shape ("));
  CHECK(message_of([&] { heptad::gemm(workers, how, 1.0, x.A.read(), x.B.read(), 1.0, x.C.view()); }) ==
        "plan.shape.beta_zero = true must be false when beta is not 0");
  heptad::plan broken = how;
  broken.levels.front().coefficients.reset();
  CHECK(message_of([&] {
          heptad::gemm(workers, broken, 1.0, x.A.read(), x.B.read(), 0.0, x.C.view());
        }).starts_with("plan.levels: "));
}

TEST_CASE("the longest products that fit in memory can be planned for many workers") {
  constexpr std::int64_t longest = std::int64_t{1} << 54;
  for (heptad::problem const& shape : {heptad::problem{1, longest, 1}, {longest, 1, 1}, {1, 1, longest}}) {
    INFO(shape.m << " x " << shape.n << " x " << shape.k);
    heptad::context workers(300);
    CHECK(heptad::make_plan<float>(workers, shape).tasks > 0);
  }
}

TEST_CASE("max_error 1 means classical, and a small one fewer levels") {
  heptad::context workers(2);
  heptad::problem const shape{8192, 8192, 8192, false, false, false, true};
  auto const plan_of = [&](double most) {
    heptad::options wishes;
    wishes.max_error = most;
    return heptad::make_plan<double>(workers, shape, wishes);
  };
  CHECK(plan_of(1).levels.empty());
  for (double const most : {2.0, 5.0, 20.0}) {
    heptad::plan const p = plan_of(most);
    CHECK(p.growth <= most);
    CHECK_FALSE(p.levels.empty());
  }
  CHECK(plan_of(2).levels.size() < plan_of(heptad::options{}.max_error).levels.size());
}

TEST_CASE("wrong views and options are errors that name them, and leave C alone") {
  heptad::context workers(2);
  std::vector<double> a(100, 1), b(100, 1), c(100, 7);
  auto const A = heptad::column_major<double const>(a.data(), 5, 4, 5);
  auto const B = heptad::column_major<double const>(b.data(), 4, 3, 4);
  auto const C = heptad::column_major(c.data(), 5, 3, 5);
  auto const call = [&](auto X, auto Y, auto Z, heptad::options const& wishes = {}) {
    return message_of([&] { heptad::gemm<double>(workers, 1, X, Y, 0, Z, under_test(wishes)); });
  };
  CHECK(call(A.block(0, 0, 4, 4), B, C) == "A.rows = 4 must be C.rows = 5");
  CHECK(call(A, B.block(0, 0, 3, 3), C) == "B.rows = 3 must be A.cols = 4");
  CHECK(call(A, B.block(0, 0, 4, 2), C) == "B.cols = 2 must be C.cols = 3");
  auto wrong = A;
  wrong.rows = -5;
  CHECK(call(wrong, B, C) == "A.rows = -5 must not be negative");
  wrong = A;
  wrong.data = nullptr;
  CHECK(call(wrong, B, C) == "A.data = null must point to 5 x 4 elements");
  auto folded = C;
  folded.col_stride = 4;
  CHECK(call(A, B, folded) ==
        "C with row_stride = 1 and col_stride = 4 must not have two of its 5 x 3 elements at one address");
  folded.col_stride = 0;
  CHECK(call(A, B, folded).find("col_stride = 0") != std::string::npos);
  // From the last element down, and every other one.
  CHECK(call(heptad::matrix_view<double const>{c.data() + 48, 5, 4, -2, -10}, B, C) ==
        fmt::format("C must not overlap A: C is in [{}, {}), A in [{}, {})", fmt::ptr(c.data()),
                    fmt::ptr(c.data() + 15), fmt::ptr(c.data() + 10), fmt::ptr(c.data() + 49)));

  heptad::options wishes;
  wishes.max_error = 0.5;
  CHECK(call(A, B, C, wishes) == "max_error = 0.5 must be at least 1");
  wishes.max_error = std::nan("");
  CHECK(call(A, B, C, wishes) == "max_error = nan must be at least 1");
  wishes = {};
  wishes.algorithm = "quick";
  CHECK(call(A, B, C, wishes).starts_with("algorithm = 'quick' must be auto, "));
  wishes = {};
  wishes.kernel = "abacus";
  CHECK(call(A, B, C, wishes).starts_with("kernel = 'abacus' must be auto or "));
  CHECK((c == std::vector<double>(100, 7)));
  CHECK(message_of([&] { heptad::make_plan<double>(workers, {-1, 2, 3}); }) == "m = -1 must not be negative");
  CHECK(message_of([&] { heptad::context too_many(-3); }) == "threads = -3 must be between 0 and 16384");
}
