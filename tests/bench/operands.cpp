// SPDX-License-Identifier: BSD-3-Clause
// The bench's own check: it passes a classical product and sees one wrong entry anywhere.
#include "tools/bench/operands.hpp"

#include <catch2/catch.hpp>
#include <limits>

using namespace heptad::bench;

namespace {

template <typename T>
operands<T> multiplied(gemm_case const& what) {
  operands<T> on(what);
  for (std::int64_t j = 0; j < what.n; ++j)
    for (std::int64_t i = 0; i < what.m; ++i) {
      T sum = 0;
      for (std::int64_t p = 0; p < what.k; ++p) sum += on.A(i, p) * on.B(p, j);
      on.C(i, j) = what.beta == 0 ? sum : sum + static_cast<T>(what.beta) * on.C(i, j);
    }
  return on;
}

}  // namespace

TEMPLATE_TEST_CASE("the classical product passes its own bound", "", float, double) {
  char const type = sizeof(TestType) == 8 ? 'd' : 's';
  for (double const beta : {0.0, 1.0, -0.5})
    for (char const* transposes : {"nn", "nt", "tn", "tt"})
      for (auto const& [m, n, k] : {std::tuple{1, 1, 1}, {130, 97, 203}, {64, 300, 1}, {3, 2, 500}}) {
        INFO(m << " x " << n << " x " << k << " " << transposes << ", beta " << beta);
        auto const on = multiplied<TestType>(
            {.type = type, .m = m, .n = n, .k = k, .threads = 1, .beta = beta, .transposes = transposes});
        verdict const result = on.check(classical_bound(k));
        CHECK(result.passed());
        if (k > 100) CHECK(result.max_error > 0);
      }
}

TEMPLATE_TEST_CASE("one wrong entry outside the sampled grid is seen", "", float, double) {
  char const type = sizeof(TestType) == 8 ? 'd' : 's';
  gemm_case const what{.type = type, .m = 200, .n = 190, .k = 150, .threads = 1, .beta = 0};
  auto const on = multiplied<TestType>(what);
  on.C(0, 0) += TestType(0.5);  // the grid starts at (2, 1)
  verdict const result = on.check(classical_bound(what.k));
  CHECK(result.max_error <= result.allowed_error);
  CHECK(result.residual > result.allowed_residual);
  CHECK_FALSE(result.passed());
}

TEST_CASE("an entry that was never written is seen") {
  gemm_case const what{.type = 'd', .m = 40, .n = 30, .k = 20, .threads = 1, .beta = 0};
  auto const on = multiplied<double>(what);
  on.C(7, 5) = std::numeric_limits<double>::quiet_NaN();
  CHECK_FALSE(on.check(classical_bound(what.k)).passed());
}

TEST_CASE("a transposed operand is the other one's entries by rows") {
  operands<double> const on({.type = 'd', .m = 5, .n = 4, .k = 3, .threads = 1, .beta = 0, .transposes = "tn"});
  CHECK(on.A.leading_dimension() == 3);
  CHECK(&on.A(2, 1) == on.A.data() + 2 * 3 + 1);
  CHECK(on.B.leading_dimension() == 3);
  CHECK(&on.B(2, 1) == on.B.data() + 2 + 1 * 3);
}

TEST_CASE("C is NaN before a product with beta = 0, and a known matrix otherwise") {
  operands<double> const fresh({.type = 'd', .m = 5, .n = 4, .k = 3, .threads = 1, .beta = 0});
  CHECK(std::isnan(fresh.C(4, 3)));
  operands<double> const kept({.type = 'd', .m = 5, .n = 4, .k = 3, .threads = 1, .beta = 1});
  CHECK(std::abs(kept.C(4, 3)) <= 1);
}
