// SPDX-License-Identifier: BSD-3-Clause
#include <catch2/catch.hpp>
#include <heptad/heptad.hpp>

#include "src/algorithm/algorithm.hpp"
#include "tests/algorithm/known.hpp"
#include "tests/algorithm/reference.hpp"

using namespace heptad;

TEST_CASE("changing any one coefficient makes the verification fail with the equation named") {
  for (auto const& x : heptad::test::known(15))
    for (coefficient_matrix algorithm::*matrix : {&algorithm::U, &algorithm::V, &algorithm::W})
      for (std::size_t e = 0; e < ((*x).*matrix).entries.size(); ++e) {
        algorithm broken = *x;
        rational& entry = (broken.*matrix).entries[e];
        entry = entry + rational(1);
        CHECK_THROWS_WITH(verify(broken),
                          Catch::Contains(x->name) && Catch::Contains("Brent equation (i,i',j,j',p,p')"));
      }
}

TEST_CASE("the failing equation is named with its indices and both sides") {
  algorithm broken = *find_algorithm("strassen");
  broken.U(0, 0) = 0;  // M1 = A(2,2) (B(1,1) + B(2,2)): A(1,1) B(1,1) reaches C(1,1) no more
  CHECK_THROWS_WITH(verify(broken),
                    Catch::Contains("(1,1,1,1,1,1) fails: the sum of u v w over the products is 0, not 1"));
  broken = *find_algorithm("strassen");
  broken.W(3, 4) = 2;  // 2 M5 too many in C(2,2): (A(1,1) + A(1,2)) B(2,2)
  CHECK_THROWS_WITH(verify(broken),
                    Catch::Contains("(1,1,2,2,2,2) fails: the sum of u v w over the products is 2, not 0"));
}

TEST_CASE("a program that does not form its matrix is named") {
  algorithm broken = *find_algorithm("winograd");
  broken.sums_A.steps[0][1].coefficient = -1;
  CHECK_THROWS_WITH(verify(broken), Catch::Contains("additions program of A") && Catch::Contains("input 4"));
  broken = *find_algorithm("winograd");
  std::swap(broken.sums_B.outputs[0], broken.sums_B.outputs[1]);
  CHECK_THROWS_WITH(verify(broken), Catch::Contains("additions program of B"));
  broken = *find_algorithm("winograd");
  broken.sums_C.outputs.pop_back();
  CHECK_THROWS_WITH(verify(broken), Catch::Contains("additions program of C has 7 inputs and 3 outputs, not 7 and 4"));
  broken = *find_algorithm("winograd");
  broken.sums_C.steps[0][0].value = 1000;
  CHECK_THROWS_WITH(verify(broken), Catch::Contains("value 1000"));
}

TEST_CASE("an algorithm whose matrices do not fit its shape is refused") {
  algorithm broken = *find_algorithm("strassen");
  broken.n = 3;
  CHECK_THROWS_WITH(verify(broken), Catch::Contains("V has 4 × 7 coefficients"));
  broken = *find_algorithm("strassen");
  broken.W.entries.pop_back();
  CHECK_THROWS_WITH(verify(broken), Catch::Contains("W has 4 × 7 coefficients (27 entries)"));
  CHECK_THROWS_WITH(verify(algorithm{}), Catch::Contains("is not a shape"));
}

TEST_CASE("the stability factor is the largest over the outputs: Higham's 12 for Strassen and 18 for Winograd") {
  CHECK(stability_factor(*find_algorithm("classical")) == 1);
  CHECK(stability_factor(*find_algorithm("strassen")) == 12);
  CHECK(stability_factor(*find_algorithm("winograd")) == 18);
  // C(1,3) has the most: 3·2 + 3·2 + 3·3 + 4·2 + 1·1 + 1·2 + 2·1 + 4·1 of M1, M2, M4, M7, M8, M11, M12, M15.
  CHECK(stability_factor(*find_algorithm("huang323")) == 38);
}

TEST_CASE("the stability factors of levels multiply") {
  auto const strassen = find_algorithm("strassen"), winograd = find_algorithm("winograd");
  CHECK(stability_factor(kronecker(*strassen, *winograd)) == 12 * 18);
}
