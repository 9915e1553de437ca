// SPDX-License-Identifier: BSD-3-Clause
#include <catch2/catch.hpp>
#include <heptad/heptad.hpp>

#include "src/algorithm/algorithm.hpp"
#include "tests/algorithm/known.hpp"
#include "tests/algorithm/reference.hpp"

using namespace heptad;
using heptad::test::known;
using heptad::test::require_multiplies;

TEST_CASE("rotations and transposes are algorithms of the permuted shape") {
  for (auto const& x : known()) {
    INFO(x->name);
    algorithm const rotated = rotate(*x), transposed = transpose(*x);
    CHECK((rotated.m == x->k && rotated.k == x->n && rotated.n == x->m));
    CHECK((transposed.m == x->n && transposed.k == x->k && transposed.n == x->m));
    for (algorithm const& y : {rotated, transposed, transpose(rotated), rotate(rotated)}) {
      CHECK_NOTHROW(verify(y));
      require_multiplies(y);
      CHECK(y.rank() == x->rank());
    }
  }
}

TEST_CASE("symmetries keep shared sums shared") {
  for (auto const& x : known()) {
    INFO(x->name);
    CHECK(all_additions(transpose(*x)) == all_additions(*x));
    // Less the blocks of A that were summed from, plus the blocks of C that now are.
    CHECK(all_additions(rotate(*x)) == all_additions(*x) + x->m * x->n - x->m * x->k);
  }
}

TEST_CASE("three rotations and two transposes give the algorithm back") {
  for (auto const& x : known()) {
    INFO(x->name);
    algorithm const once = rotate(rotate(rotate(*x))), twice = transpose(transpose(*x));
    for (algorithm const* y : {&once, &twice}) {
      CHECK(y->U.entries == x->U.entries);
      CHECK(y->V.entries == x->V.entries);
      CHECK(y->W.entries == x->W.entries);
    }
  }
}

TEST_CASE("the symmetries of Winograd's algorithm keep its 4, 4 and 7 additions") {
  algorithm const winograd = *find_algorithm("winograd");
  for (algorithm const& y : {rotate(winograd), rotate(rotate(winograd)), transpose(winograd)}) {
    CHECK(additions(y.sums_A) == 4);
    CHECK(additions(y.sums_B) == 4);
    CHECK(additions(y.sums_C) == 7);
  }
}

TEST_CASE("Kronecker products of different algorithms are algorithms") {
  auto const strassen = find_algorithm("strassen"), winograd = find_algorithm("winograd");
  auto const huang = find_algorithm("huang323"), huang233 = find_algorithm("huang233");
  auto const check = [](algorithm const& outer, algorithm const& inner) {
    algorithm const x = kronecker(outer, inner);
    INFO(x.name);
    CHECK((x.m == outer.m * inner.m && x.k == outer.k * inner.k && x.n == outer.n * inner.n));
    CHECK(x.rank() == outer.rank() * inner.rank());
    CHECK_NOTHROW(verify(x));
    require_multiplies(x);
  };
  check(*strassen, *winograd);
  check(*winograd, *huang);
  check(*huang233, *strassen);
  check(kronecker(*strassen, *strassen), *winograd);
}

TEST_CASE("the Kronecker product applies the outer algorithm to blocks and the inner within them") {
  auto const winograd = find_algorithm("winograd"), huang = find_algorithm("huang323");
  algorithm const x = kronecker(*winograd, *huang);
  // A is 6 × 4: block (1,0) of the outer level, (2,1) within it, is row 1·3+2, column 0·2+1.
  int const row = 5, col = 1, R = 15;
  for (int r = 0; r < x.rank(); ++r)
    CHECK(x.U(row * 4 + col, r) == winograd->U(1 * 2 + 0, r / R) * huang->U(2 * 2 + 1, r % R));
}

TEST_CASE("Kronecker products share the sums that their factors share") {
  algorithm const& winograd = *find_algorithm("winograd");
  algorithm const two = kronecker(winograd, winograd), three = kronecker(winograd, two);
  // 4 sums of 4 blocks each, then 4 sums in each of 7 parts; and so on. Formed apart, A would take 147 and 2401.
  CHECK(additions(two.sums_A) == 4 * 4 + 7 * 4);
  CHECK(additions(two.sums_B) == 4 * 4 + 7 * 4);
  CHECK(additions(two.sums_C) == 7 * 7 + 7 * 4);
  CHECK(additions(three.sums_A) == 4 * 16 + 7 * 44);
  CHECK(additions(three.sums_C) == 7 * 77 + 7 * 16);
}

TEST_CASE("the classical algorithm is neutral in Kronecker products") {
  auto const classical = find_algorithm("classical"), huang = find_algorithm("huang323");
  CHECK(kronecker(*classical, *huang).U.entries == huang->U.entries);
  CHECK(kronecker(*huang, *classical).W.entries == huang->W.entries);
}
