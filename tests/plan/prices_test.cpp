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
  machine.f64.terms = {{64, 60, 60, 60, 60, 25, 20, 500}};
  prices const price(element_type::f64, machine);
  double const m = 96, n = 64, k = 80;
  double const flops = 2 * m * n * k / 50e9, fetching = 8 * (m * k + k * n + m * n) / 25e9;
  CHECK(price.product(m, n, k) == Approx(flops));
  CHECK(price.product(m, n, k, {.operands = distance::passed}) == Approx(flops + fetching));
  // Of a fused level, whole operands once.
  fused_blocks const strassen{2, 2, 2, 7};
  CHECK(price.products(m, n, k, 7, {12, 12, 12}, {false, distance::passed, strassen}) -
            price.products(m, n, k, 7, {12, 12, 12}, {false, distance::in_cache, strassen}) ==
        Approx(4 * fetching * 25 / 20));
}

TEST_CASE("what fetching costs is interpolated between the sizes that were measured, in time") {
  machine_profile machine = test::zen4();
  machine.f32.terms = {{64, 60, 60, 60, 60, 20, 60, 500}, {256, 60, 60, 60, 60, 40, 60, 500}};
  prices const price(element_type::f32, machine);
  double const s = 128, bytes = 3 * 4 * s * s;
  double const fetching = price.product(s, s, s, {.operands = distance::passed}) - price.product(s, s, s);
  CHECK(fetching == Approx(bytes * (1 / 20e9 + 1 / 40e9) / 2));
}

TEST_CASE("what lies in memory is fetched like the first operands that passes write past the caches, or larger ones") {
  machine_profile machine = test::zen4();
  machine.f64.terms = {
      {64, 60, 60, 60, 60, 200, 100, 500}, {320, 60, 60, 60, 60, 40, 25, 500}, {640, 60, 60, 60, 60, 80, 50, 500}};
  prices const price(element_type::f64, machine);
  auto const fetching = [&](double s, distance from) { return price.fetching(s, s, s, false, from); };
  constexpr double small = 3 * 8 * 128 * 128, large = 3 * 8 * 640 * 640;
  CHECK(fetching(128, distance::in_cache) == 0);
  CHECK(fetching(128, distance::passed) < 0.6 * small / 40e9);
  CHECK(fetching(128, distance::in_memory) == Approx(small / 40e9));
  CHECK(price.fetching(128, 128, 128, true, distance::in_memory) == Approx(small / 25e9));
  CHECK(fetching(640, distance::in_memory) == Approx(large / 80e9));
  // A profile that ends before such sizes says nothing of them.
  machine.f64.terms = {{64, 60, 60, 60, 60, 200, 100, 500}};
  CHECK(prices(element_type::f64, machine).fetching(128, 128, 128, false, distance::in_memory) ==
        Approx(small / 200e9));
}

TEST_CASE("passes over more than half of the last cache leave the operands of several workers in memory") {
  machine_profile machine = test::zen4();
  machine.l3_bytes = 32 << 20;
  prices const price(element_type::f64, machine);
  CHECK(price.left_by_passes(0, 2) == distance::in_cache);
  CHECK(price.left_by_passes(16 << 20, 2) == distance::passed);
  CHECK(price.left_by_passes(17 << 20, 2) == distance::in_memory);
  CHECK(price.left_by_passes(1e9, 1) == distance::passed);
}

TEST_CASE("a product costs whole vectors of rows, and updates of C more if its columns are not whole cache lines") {
  machine_profile machine = test::zen4();
  machine.f32.sides = {8};
  machine.f32.product_gflops = {50};
  machine.f32.terms = {{64, 60, 60, 60, 60, 60, 60, 40}, {640, 60, 60, 60, 60, 60, 60, 20}};
  prices const price(element_type::f32, machine);
  double const a_row = 2 * 70 * 30 / 50e9;
  auto const ragged = [](double rows, double rate) { return 2 * 4 * rows * 70 / rate; };
  CHECK(price.product(96, 70, 30) == Approx(96 * a_row));
  CHECK(price.product(50, 70, 30) == Approx(50 * a_row + ragged(50, 40e9)));
  CHECK(price.product(7, 70, 30) == Approx(8 * a_row + ragged(7, 40e9)));
  machine.f32.vector_rows = 24;
  CHECK(price.product(96, 70, 30) == Approx(96 * a_row));
  CHECK(price.product(112, 70, 30) == Approx(120 * a_row));
  CHECK(price.product(50, 70, 30) == Approx(72 * a_row + ragged(50, 40e9)));
  CHECK(price.product(96.25, 70, 30) == Approx(96.25 * a_row));
  // By the size of the whole C, and each of its updates.
  product_setting const fused{false, distance::in_cache, {16, 1, 16, 7}};
  product_terms const terms{7, 7, 12};
  double const others = 2 * 5 * 4 * 50 * 70 / 60e9;
  CHECK(price.products(50, 70, 30, 7, terms, fused) == Approx(7 * 72 * a_row + others + 12 * ragged(50, 20e9)));
  CHECK(price.products(48, 70, 30, 7, terms, fused) == Approx(7 * 48 * a_row + others * 48 / 50));
}

TEST_CASE("updates of ragged columns come once for each block of k-steps, unless products are gathered in a buffer") {
  machine_profile machine = test::zen4();
  machine.f64.terms = {{64, 60, 60, 60, 60, 60, 60, 40}};
  prices const price(element_type::f64, machine);
  auto const straight_beyond_gathered = [&](double m, double k) {
    auto const seconds = [&](bool product_buffer) {
      return price.products(m, 50, k, 1, {}, {.product_buffer = product_buffer});
    };
    return seconds(false) - seconds(true);
  };
  CHECK(straight_beyond_gathered(79, 256) == 0);
  CHECK(straight_beyond_gathered(79, 600) == Approx(2 * (2 * 8 * 79 * 50 / 40e9)));
  CHECK(straight_beyond_gathered(80, 600) == 0);
}

TEST_CASE("further blocks cost by the size of the whole operands, and updates of C once for each block of k-steps") {
  machine_profile machine = test::zen4();
  machine.f64.terms = {{256, 40, 80, 100, 200, 60, 60, 500}, {1024, 10, 20, 50, 25, 60, 60, 500}};
  prices const price(element_type::f64, machine);
  double const m = 128, n = 128, k = 256, block = 8 * m * n;
  product_terms const terms{12, 12, 12};
  fused_blocks const small{2, 1, 2, 7}, large{8, 2, 8, 7};
  CHECK(price.further_sums(m, n, k, 7, terms, small) == Approx(5 * block * 2 * (1 / 40e9 + 1 / 80e9)));
  CHECK(price.further_sums(m, n, k, 7, terms, {8, 4, 8, 7}) == Approx(5 * block * 2 * (1 / 10e9 + 1 / 20e9)));
  CHECK(price.further_updates(m, n, k, 7, terms, {false, distance::in_cache, small}) == Approx(2 * 5 * block / 200e9));
  CHECK(price.further_updates(m, n, k, 7, terms, {false, distance::in_cache, large}) == Approx(2 * 5 * block / 25e9));
  // Only products of several blocks of k-steps are gathered in a buffer.
  CHECK(price.further_updates(m, n, k, 7, terms, {true, distance::in_cache, large}) == Approx(2 * 5 * block / 25e9));
  CHECK(price.further_updates(m, n, 3 * k, 7, terms, {false, distance::in_cache, large}) ==
        Approx(3 * 2 * 5 * block / 25e9));
  CHECK(price.further_updates(m, n, 3 * k, 7, terms, {true, distance::in_cache, large}) ==
        Approx(2 * 5 * block / 50e9));
}

TEST_CASE("products of few k-steps hide less of what updates of a large C take") {
  machine_profile machine = test::zen4();
  machine.l3_bytes = 32 << 20;
  machine.update_gbytes = 40;
  machine.f64.terms = {{256, 40, 80, 100, 200, 60, 60, 500}};
  prices const price(element_type::f64, machine);
  product_setting const how{false, distance::in_cache, {2, 2, 2, 7}};
  double const s = 1024, block = 8 * s * s, beside = 2 * 5 * block / 200e9, all = 2 * 12 * block / 40e9;
  auto const updates = [&](double size, double k) {
    return price.further_updates(size, size, k, 7, {12, 12, 12}, how);
  };
  CHECK(updates(s, 32) == Approx(beside + 0.75 * all));
  CHECK(updates(s, 96) == Approx(beside + 0.25 * all));
  CHECK(updates(s, 128) == Approx(beside));
  CHECK(updates(512, 32) == Approx(beside / 4));  // a quarter of the cache
  CHECK(updates(520, 32) > beside / 4 * 2);
  // Each of the products of a fused level, even one of single blocks.
  double const plain = price.products(s, s, 32, 1, {1, 1, 1}, {});
  CHECK(price.products(s, s, 32, 1, {1, 1, 1}, how) == Approx(plain + 0.75 * 2 * block / 40e9));
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

TEST_CASE("workers that share a pass move bytes no faster than all of them were measured to, each with its part") {
  machine_profile machine = test::zen4();
  machine.passes = {{1e6, 10, 12}, {4e6, 10, 16}, {most_stored_bytes, 10, 19}, {least_streamed_bytes, 30, 40}};
  machine.widths = {{8, 1}, {32, 2}};
  prices const price(element_type::f64, machine);
  CHECK(price.pass(8e6, 4e6, 8) == Approx(8e6 / 10e9));
  CHECK(price.shared_pass(8e6, 4e6, 8, 1) == Approx(8e6 / 10e9));
  CHECK(price.shared_pass(8e6, 2e6, 8, 2) == Approx(8e6 / 12e9));
  CHECK(price.shared_pass(8e6, 2e6, 32, 2) == Approx(2 * 8e6 / 12e9));
  // Whether blocks bypass the caches is decided by their own size, not by the part of one worker.
  CHECK(price.shared_pass(8e6, least_streamed_bytes, 8, 2) == Approx(8e6 / 40e9));
  // Fewer workers than cores are no faster than each of them alone.
  machine.passes = {{1e6, 10, 80}};
  CHECK(price.shared_pass(8e6, 2e6, 8, 2) == Approx(8e6 / 20e9));
}
