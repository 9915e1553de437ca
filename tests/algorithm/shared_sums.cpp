// SPDX-License-Identifier: BSD-3-Clause
#include <catch2/catch.hpp>

#include "src/algorithm/algorithm.hpp"
#include "tests/algorithm/known.hpp"
#include "tests/algorithm/reference.hpp"

using namespace heptad;

TEST_CASE("sums are shared: never more additions than without, and the product stays") {
  for (auto const& x : heptad::test::known(26)) {
    INFO(x->name);
    algorithm plain = *x, shared = *x;
    set_plain_programs(plain);
    share_sums(shared);
    CHECK(all_additions(shared) <= all_additions(plain));
    heptad::test::require_multiplies(shared);
  }
}

TEST_CASE("a sum that occurs twice, or as a multiple of itself, is formed once") {
  // C11 = 2 (M1 + M2), C12 = 3 (M1 + M2): with the columns of U and V arbitrary, only the program of C matters.
  algorithm x = *find_algorithm("strassen");
  x.W = {4, 7, std::vector<rational>(28)};
  for (int p = 0; p < 4; ++p)
    for (int r = 0; r < 7; ++r) x.W(p, r) = r < 2 ? rational(p + 2) : rational(0);
  share_sums(x);
  CHECK(additions(x.sums_C) == 1);
}

TEST_CASE("sharing finds Winograd's 15 additions in his coefficients") {
  algorithm x = *find_algorithm("winograd");
  share_sums(x);
  CHECK(all_additions(x) == 15);
}

TEST_CASE("sharing is deterministic") {
  algorithm x = *find_algorithm("sparse244"), y = x;
  share_sums(x);
  share_sums(y);
  CHECK((x.sums_A == y.sums_A && x.sums_B == y.sums_B && x.sums_C == y.sums_C));
}
