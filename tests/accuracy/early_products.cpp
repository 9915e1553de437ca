// SPDX-License-Identifier: BSD-3-Clause
// Products of fused levels that do not read C are made before all of A and B is known: what shows only then, C must
// not show.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "src/api/context.hpp"
#include "src/api/environment.hpp"
#include "src/api/prepare.hpp"
#include "tests/accuracy/random_product.hpp"
#include "tests/dropin/in_child.hpp"
#include "tests/environment_variable.hpp"

using namespace heptad;
using namespace heptad::test;

namespace {

template <typename T>
struct early_product {
  explicit early_product(int threads)
      : workers(threads), x(210, 190, 230, layout::columns, layout::rows, layout::columns) {
    generator random(3);
    x.A.fill(random);
    x.B.fill(random);
    x.C0.fill(random);
    fused.force_levels = 1;
    fused.max_workspace = 256 << 20;
    how = make_plan<T>(workers, x.shape(), fused);
    for (plan_level const& level : how.levels) REQUIRE(level.kind == level_kind::fused);
  }

  report run() {
    x.reset();
    return gemm(workers, x.alpha, x.A.read(), x.B.read(), x.beta, x.C.view(), fused);
  }
  /// What the plan that run() uses has learned of calls with this scaling: none, or automatic.
  bool looks_first(scaling_kind scaling = scaling_kind::automatic) {
    auto const type = sizeof(T) == 8 ? element_type::f64 : element_type::f32;
    options wishes = fused;
    wishes.scaling = scaling_kind::automatic;  // the plan does not follow from it
    auto const kept = prepare(workers.state(), {type, x.shape(), workers.threads(), wishes});
    return kept->looks_first[scaling == scaling_kind::automatic];
  }
  std::vector<T> elements() {
    std::vector<T> all;
    for (std::int64_t j = 0; j < x.n(); ++j)
      for (std::int64_t i = 0; i < x.m(); ++i) all.push_back(x.C(i, j));
    return all;
  }

  context workers;
  options fused;
  product<T> x;
  plan how;
};

template <typename T>
bool same_bits(std::vector<T> const& x, std::vector<T> const& y) {
  return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(T)) == 0;
}

}  // namespace

TEMPLATE_TEST_CASE("where A and B turn out to forbid the levels, C is made again, and the next one is not made early",
                   "", double, float) {
  using T = TestType;
  using limits = std::numeric_limits<T>;
  struct expectation {
    T element;
    std::string precaution;
    scaling_kind scaling;
  };
  for (int const threads : {1, 2})
    for (auto const& [element, precaution, scaling] :
         {expectation{limits::quiet_NaN(), "A holds NaN", scaling_kind::none},
          {-limits::infinity(), "A holds infinities", scaling_kind::none},
          {limits::max(), "elements of C could overflow when they are scaled back", scaling_kind::none},
          {T(1e6), "", scaling_kind::outside}}) {
      early_product<T> early(threads);
      product<T>& x = early.x;
      report const before = early.run();
      CHECK(before.precaution.empty());
      CHECK(before.scaling == scaling_kind::none);
      auto const C = early.elements();
      T const kept = x.A(100, 111);
      x.A(100, 111) = element;  // far from both ends of k, where A is looked at before
      CAPTURE(threads, element);

      CHECK_FALSE(early.looks_first());
      report const again = early.run();
      CHECK(early.looks_first());
      CHECK(again.precaution == precaution);
      CHECK(again.scaling == scaling);
      CHECK(again.plan.levels.empty() == !precaution.empty());
      auto const first = early.elements();
      int wrong = 0;
      auto const reference = exact(x);
      for (std::int64_t i = 0; i < x.m(); ++i)
        for (std::int64_t j = 0; j < x.n(); ++j) {
          auto const wanted = static_cast<T>(reference[static_cast<std::size_t>(j * x.m() + i)]);
          T const got = x.C(i, j);
          if (std::isnan(wanted) || std::isinf(wanted)) wrong += std::isnan(wanted) ? !std::isnan(got) : got != wanted;
          else wrong += !(std::abs(got - wanted) <= (i == 100 ? std::abs(element) : T(1)) * 4000 * limits::epsilon());
        }
      CHECK(wrong == 0);

      report const warned = early.run();
      CHECK(warned.precaution == precaution);
      CHECK(warned.scaling == scaling);
      CHECK(same_bits(early.elements(), first));

      x.A(100, 111) = kept;
      for (int i = 0; i < 2; ++i) {  // looking first, and early again
        report const healed = early.run();
        CHECK(healed.precaution.empty());
        CHECK(healed.scaling == scaling_kind::none);
        CHECK(same_bits(early.elements(), C));
        CHECK_FALSE(early.looks_first());
      }
    }
}

TEMPLATE_TEST_CASE("a sample that has nothing of some lines decides nothing", "", double, float) {
  using T = TestType;
  early_product<T> early(2);
  product<T>& x = early.x;
  for (std::int64_t i = 0; i < x.m(); ++i)  // a band: zeros at both ends of k
    for (std::int64_t l = 0; l < x.k(); ++l)
      if (std::abs(i - l) > 40) x.A(i, l) = 0;
  report r = early.run();
  CHECK(r.plan.levels.size() == 1);
  CHECK(r.scaling == scaling_kind::none);
  for (std::int64_t l = 0; l < x.k(); ++l) x.A(110, l) *= T(1e-5);
  r = early.run();
  CHECK(r.scaling == scaling_kind::outside);
}

TEMPLATE_TEST_CASE("what calls with one scaling have learned of A and B is no news for those with another", "", double,
                   float) {
  early_product<TestType> early(1);
  early.x.A(100, 111) = TestType(1e6);
  CHECK(early.run().scaling == scaling_kind::outside);
  CHECK(early.looks_first());
  early.fused.scaling = scaling_kind::none;  // for which these are as good as any
  CHECK(early.run().scaling == scaling_kind::none);
  CHECK_FALSE(early.looks_first(scaling_kind::none));
  CHECK(early.looks_first());

  early_product<TestType> asked(1);
  asked.fused.scaling = scaling_kind::both;  // is never made early
  CHECK(asked.run().scaling == scaling_kind::both);
  CHECK_FALSE(asked.looks_first(scaling_kind::none));
  CHECK_FALSE(asked.looks_first());
}

TEST_CASE("the time of an early product that turns out right is none of the precautions") {
  temporary_folder const folder;
  std::string const trace = (folder.path() / "trace.json").string();
  environment_variable const traced("HEPTAD_TRACE", trace.c_str());
  CHECK(dropin::in_child([&] {
    if (process_environment().trace != trace) return true;  // another test has read the variables before
    early_product<double> early(1);
    early.x.A(100, 111) = 700;  // too large for the sample, but not worth scaling
    report const r = early.run();
    double product = 0;
    bool scanned = false;
    std::ifstream file(trace);
    for (nlohmann::json const& event : nlohmann::json::parse(file)) {
      if (event.value("cat", "") == "product") product += 1e-6 * event["dur"].get<double>();
      scanned = scanned || event.value("cat", "") == "scan";
    }
    return scanned && product > 0 && r.precaution_seconds > 0 && r.precaution_seconds + product <= r.seconds;
  }));
}
