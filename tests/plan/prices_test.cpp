// SPDX-License-Identifier: BSD-3-Clause
#include "src/plan/prices.hpp"

#include <catch2/catch.hpp>

#include "tests/plan/machines.hpp"

using namespace heptad;
using Catch::Detail::Approx;

TEST_CASE("a product between passes costs its flops and the fetching of A, B and C") {
  machine_profile machine = test::zen4();
  machine.f64.sides = {64};
  machine.f64.product_gflops = {50};
  machine.f64.terms = {{64, 60, 60, 60, 60, 25}};
  prices const price(element_type::f64, machine);
  double const m = 96, n = 64, k = 80;
  double const flops = 2 * m * n * k / 50e9, fetching = 8 * (m * k + k * n + m * n) / 25e9;
  CHECK(price.product(m, n, k) == Approx(flops));
  CHECK(price.product(m, n, k, {.between_passes = true}) == Approx(flops + fetching));
  CHECK(price.products(m, n, k, 7, {12, 12, 12}, {false, true}) - price.products(m, n, k, 7, {12, 12, 12}, {}) ==
        Approx(7 * fetching));
}

TEST_CASE("what fetching costs is interpolated between the sizes that were measured, in time") {
  machine_profile machine = test::zen4();
  machine.f32.terms = {{64, 60, 60, 60, 60, 20}, {256, 60, 60, 60, 60, 40}};
  prices const price(element_type::f32, machine);
  double const s = 128, bytes = 3 * 4 * s * s;
  double const fetching = price.product(s, s, s, {.between_passes = true}) - price.product(s, s, s);
  CHECK(fetching == Approx(bytes * (1 / 20e9 + 1 / 40e9) / 2));
}

TEST_CASE("a product costs whole vectors of rows, and further ones if its columns of C are not whole cache lines") {
  machine_profile machine = test::zen4();
  machine.f32.sides = {8};
  machine.f32.product_gflops = {50};
  machine.f32.ragged_rows = 6;
  prices const price(element_type::f32, machine);
  double const a_row = 2 * 70 * 30 / 50e9;
  CHECK(price.product(96, 70, 30) == Approx(96 * a_row));
  CHECK(price.product(100, 70, 30) == Approx(106 * a_row));
  CHECK(price.product(7, 70, 30) == Approx(8 * a_row));
  machine.f32.vector_rows = 24;
  CHECK(price.product(96, 70, 30) == Approx(96 * a_row));
  CHECK(price.product(112, 70, 30) == Approx(120 * a_row));
  CHECK(price.product(100, 70, 30) == Approx(126 * a_row));
  CHECK(price.product(96.25, 70, 30) == Approx(96.25 * a_row));
  CHECK(price.product(7, 70, 30) == Approx(8 * a_row));
}

TEST_CASE("further updates of a C that no cache holds come from memory") {
  machine_profile machine = test::zen4();
  machine.f64.terms = {{64, 60, 60, 100, 200, 60}};
  machine.update_gbytes = 50;
  machine.l3_bytes = 32 << 20;
  prices const price(element_type::f64, machine);
  double const m = 1024, n = 1024, bytes = 8 * m * n, further = 2 * (12 - 7) * bytes;  // read and written
  product_terms const strassen{12, 12, 12};
  CHECK(price.further_updates(m, n, 7, strassen, {true, false, 4}) == Approx(further / 100e9));
  CHECK(price.further_updates(m, n, 7, strassen, {true, false, 5}) == Approx(further / 50e9));
  CHECK(price.further_updates(m, n, 7, strassen, {false, false, 5}) == Approx(further / 50e9));
  machine.f64.terms.front().ab_gbytes = 20;
  CHECK(price.further_updates(m, n, 7, strassen, {true, false, 5}) == Approx(further / 20e9));
}

TEST_CASE("an operand is looked at with the rate for its size, and all workers with at most that of memory") {
  machine_profile machine = test::zen4();
  machine.passes = {{1e6, 10, 10, 40}, {1e8, 10, 80, 20}};
  prices const price(element_type::f64, machine);
  CHECK(price.scan(5e5, 1e6) == Approx(5e5 / 40e9));
  CHECK(price.scan(1e8, 1e8) == Approx(1e8 / 20e9));
  CHECK(price.scan(1e8, 1e8, 2) == Approx(1e8 / 40e9));
  CHECK(price.scan(1e8, 1e8, 8) == Approx(1e8 / 80e9));
}

TEST_CASE("blocks that bypass the caches have the rate of such passes, however many there are") {
  machine_profile machine = test::zen4();
  machine.passes = {{most_stored_bytes, 10, 10}, {least_streamed_bytes, 40, 40}};
  machine.widths = {{8, 1}};
  prices const price(element_type::f64, machine);
  constexpr double traffic = 1e9, mib = 1 << 20;
  CHECK(price.pass(traffic, 8 * 0.7 * mib, 8) == Approx(0.1));
  CHECK(price.pass(traffic, 8 * 0.75 * mib, 8) == Approx(0.025));
  CHECK(price.pass(traffic, 24 * 0.5 * mib, 24) == Approx(0.1));
  CHECK(price.pass(traffic, 4 * 3 * mib, 4) == Approx(0.025));
}
