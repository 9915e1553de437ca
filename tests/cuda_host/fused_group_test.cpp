// SPDX-License-Identifier: BSD-3-Clause
// What is settled of fused products before their operands are known: factors, turns, and who waits for whom.
#include "schedulers/cuda/fused_group.hpp"

#include <catch2/catch.hpp>
#include <limits>

#include <heptad/heptad.hpp>

using namespace heptad;
using namespace heptad::cuda;

namespace {

block on(int space, std::int64_t row, std::int64_t col) { return {space, row, col, 4, 4}; }

product_step step(std::vector<source> a, std::vector<source> b, std::vector<target> c) {
  return {std::move(a), std::move(b), std::move(c)};
}

/// (2 A0 − A1)(−B0) into C0 and C1, then A0 B1 into C1 and C2, then A1 B1 into C0.
std::vector<product_step> three() {
  block const A0 = on(space_A, 0, 0), A1 = on(space_A, 0, 4), B0 = on(space_B, 0, 0), B1 = on(space_B, 4, 0);
  block const C0 = on(space_C, 0, 0), C1 = on(space_C, 0, 4), C2 = on(space_C, 4, 0);
  return {step({{A0, 2}, {A1, -1}}, {{B0, -1}}, {{C0, 1, update::overwrite}, {C1, 3, update::overwrite}}),
          step({{A0, 1}}, {{B1, 1}}, {{C1, 1, update::accumulate}, {C2, 1, update::overwrite}}),
          step({{A1, 1}}, {{B1, 1}}, {{C0, -1, update::accumulate}})};
}

}  // namespace

TEST_CASE("sums begin with the factor 1, and the product carries what was divided out") {
  auto const g = fused_numbering().add(three(), 1);
  REQUIRE(g.products.size() == 3);
  auto const& p = g.products[0];
  CHECK((p.a[0].coefficient == 1 && p.a[1].coefficient == -0.5 && p.b[0].coefficient == 1));
  CHECK((p.c[0].where.coefficient == -2 && p.c[1].where.coefficient == -6));
}

TEST_CASE("a product waits for the last one before it on each of its blocks, and takes its turn after it") {
  auto const g = fused_numbering().add(three(), 1);
  CHECK(g.products[0].after.empty());
  CHECK(g.products[1].after == std::vector<std::size_t>{0});
  CHECK(g.products[2].after == std::vector<std::size_t>{0});
  CHECK((g.products[0].c[0].turn == 0 && g.products[2].c[0].turn == 1));
  CHECK(g.products[2].c[0].block == g.products[0].c[0].block);
  CHECK((g.products[1].c[0].turn == 1 && g.products[1].c[1].turn == 0));
}

TEST_CASE("turns and tickets go on from group to group") {
  fused_numbering numbering;
  auto const first = numbering.add(three(), 5), second = numbering.add(three(), 5);
  CHECK(first.first_ticket == 0);
  CHECK(second.first_ticket == 15);
  CHECK(second.products[0].c[0].turn == 2);
  CHECK(numbering.blocks() == 3);
}

TEST_CASE("sums of too many blocks and tiles beyond the tickets are refused") {
  auto const A = on(space_A, 0, 0);
  product_step wide = three()[1];
  wide.a.assign(5, {A, 1});
  CHECK_THROWS_WITH(fused_numbering().add(std::vector{wide}, 1), Catch::Contains("5 blocks"));
  CHECK_THROWS_WITH(fused_numbering().add(three(), std::int64_t{1} << 31), Catch::Contains("too many"));
}
