// SPDX-License-Identifier: BSD-3-Clause
#include "tools/bench/gemm_case.hpp"

#include <catch2/catch.hpp>
#include <stdexcept>

using namespace heptad::bench;

TEST_CASE("a shape is one size or M x N x K") {
  gemm_case const square = parse_shape("4096");
  CHECK((square.m == 4096 && square.n == 4096 && square.k == 4096));
  gemm_case const flat = parse_shape("2000x9000x500");
  CHECK((flat.m == 2000 && flat.n == 9000 && flat.k == 500));
  CHECK(flat.shape() == "2000x9000x500");
  gemm_case transposed = square;
  transposed.transposes = "nt";
  CHECK(transposed.shape() == "4096 nt");
  gemm_case cold = transposed;
  cold.operand_sets = 3;
  CHECK(cold.shape() == "4096 nt cold");
  CHECK(cold.operand_bytes() == 3 * transposed.operand_bytes());
  CHECK(flat.flops() == 2.0 * 2000 * 9000 * 500);
  CHECK(flat.operand_bytes() == 8.0 * (2000 * 500 + 500 * 9000 + 2000 * 9000));
  CHECK(parse_shape("2147483647").operand_bytes() == Approx(24 * 0x1p62));
}

TEST_CASE("a misspelt shape is refused and named") {
  for (char const* text : {"", "x", "12x", "12x13", "1x2x3x4", "0", "-5", "12y", "3000000000", "1e3"}) {
    INFO(text);
    REQUIRE_THROWS_AS(parse_shape(text), std::invalid_argument);
    REQUIRE_THROWS_WITH(parse_shape(text), Catch::Contains(std::string("'") + text + "'"));
  }
}
