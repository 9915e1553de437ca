// SPDX-License-Identifier: BSD-3-Clause
#include "src/plan/level_time.hpp"

#include <catch2/catch.hpp>
#include <vector>

using namespace heptad;

namespace {

/// Products that wait for earlier ones: those that each one names.
product_waits level(std::vector<std::vector<int>> const& waits_for, int before_sums, int before_update) {
  product_waits w;
  w.before_sums = before_sums;
  w.before_update = before_update;
  w.products.resize(waits_for.size());
  for (std::size_t p = 0; p < waits_for.size(); ++p)
    for (int const earlier : waits_for[p]) {
      w.products[static_cast<std::size_t>(earlier)].followers.push_back(static_cast<int>(p));
      ++w.products[p].waits_for;
    }
  return w;
}

product_waits free_products(int count, int before_sums) {
  return level(std::vector<std::vector<int>>(static_cast<std::size_t>(count)), before_sums, count);
}

}  // namespace

TEST_CASE("free products run in rounds of the workers, their strips in rounds of their own") {
  product_waits const seven = free_products(7, 7);
  CHECK(level_time(seven, {.workers = 1}) == 7);
  CHECK(level_time(seven, {.workers = 2}) == 4);
  CHECK(level_time(seven, {.workers = 8}) == 1);
  CHECK(level_time(seven, {.workers = 2, .strips = 2}) == 7);
  CHECK(level_time(seven, {.workers = 4, .strips = 3}) == 6);  // 21 tasks
}

TEST_CASE("products wait for each other, whatever the workers") {
  product_waits const chain = level({{}, {0}, {1}, {}}, 4, 4);
  CHECK(level_time(chain, {.workers = 8}) == 3);
  CHECK(level_time(chain, {.workers = 2}) == 3);  // the free one beside the chain
  CHECK(level_time(chain, {.workers = 1}) == 4);
  CHECK(level_time(chain, {.workers = 8, .strips = 4}) == 3);  // of which two run beside each other
}

TEST_CASE("all workers share the sums, and products that need none run beside them") {
  CHECK(level_time(free_products(4, 0), {.workers = 4, .sums = 2}) == Approx(0.5 + 1));
  // Two are at work: the other two need one time for the sums, then all take the last four.
  CHECK(level_time(free_products(6, 2), {.workers = 4, .sums = 2}) == Approx(2));
  // Half a time later the first two are done before the sums, and join.
  CHECK(level_time(free_products(6, 2), {.workers = 4, .sums = 4}) == Approx(1.5 + 1));
  // All are at work: the sums come after them.
  CHECK(level_time(free_products(8, 4), {.workers = 4, .sums = 2}) == Approx(1 + 0.5 + 1));
}

TEST_CASE("workers that begin at different times end at different times") {
  // Two from 0, two from 1/4, when they have made the sums.
  CHECK(level_time(free_products(16, 2), {.workers = 4, .sums = 0.5}) == Approx(4.25));
  CHECK(level_time(free_products(17, 2), {.workers = 4, .sums = 0.5}) == Approx(5));
}

TEST_CASE("the update of C waits for the products before it, and the others for the update") {
  product_waits const w = level({{}, {}, {}, {}, {}}, 3, 3);
  CHECK(level_time(w, {.workers = 2}) == 3);  // two rounds, then one
  CHECK(level_time(w, {.workers = 2, .update = 1}) == Approx(2 + 0.5 + 1));
  product_waits const last = free_products(3, 3);
  CHECK(level_time(last, {.workers = 2, .update = 1}) == Approx(2.5));  // ends with the update
}
