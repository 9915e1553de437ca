// SPDX-License-Identifier: BSD-3-Clause
// The order of one level: for Winograd's algorithm by name, for the others by what must hold.
#include "src/plan/level_schedule.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <set>

#include "tests/algorithm/known.hpp"

using namespace heptad;
using heptad::test::known;

namespace {

using product_numbers = std::vector<int>;

product_numbers numbers(std::vector<scheduled_product> const& list) {
  product_numbers r;
  for (auto const& p : list) r.push_back(p.number + 1);
  return r;
}

std::vector<scheduled_product> all_products(level_schedule const& s) {
  std::vector<scheduled_product> all = s.before_sums;
  all.insert(all.end(), s.before_update.begin(), s.before_update.end());
  all.insert(all.end(), s.after_update.begin(), s.after_update.end());
  return all;
}

/// Strassen's with the sum of A of product `r` that of product `s`, negated: not an algorithm any more, but a schedule.
algorithm repeated_sum(int r, int s) {
  algorithm x = *find_algorithm("strassen");
  for (int i = 0; i < 4; ++i) x.U(i, r) = -x.U(i, s);
  set_plain_programs(x);
  return x;
}

/// No product reads a sum in which an earlier one was left.
bool keeps_sums_that_are_needed(level_schedule const& s) {
  std::vector<place> overwritten;
  for (auto const& p : all_products(s)) {
    for (place const& used : {p.a, p.b})
      if (used.what != role::operand && std::ranges::find(overwritten, used) != overwritten.end()) return false;
    overwritten.push_back(p.c);
  }
  return true;
}

}  // namespace

TEST_CASE("with beta = 0 Winograd's shared products come first and stay in place, the others accumulate at the end") {
  auto const s = schedule_level(*find_algorithm("winograd"), {update::overwrite, false, true, true});
  CHECK(numbers(s.before_sums) == product_numbers{1});
  CHECK(numbers(s.before_update) == product_numbers{5, 6, 7});
  CHECK(numbers(s.after_update) == product_numbers{2, 3, 4});
  CHECK(s.before_sums[0].c == place{role::result, 0});
  for (auto const& p : s.before_update) {
    CHECK(p.c.what == role::result);
    CHECK(p.how == update::overwrite);
  }
  for (auto const& p : s.after_update) CHECK(p.how == update::accumulate);
  CHECK(s.update_C.targets.size() == 3);  // C11 is the first product already
  for (auto const& t : s.update_C.targets) CHECK(t.how == update::overwrite);
}

TEST_CASE("with beta ≠ 0 Winograd's shared products go through one temporary and three sums no longer needed") {
  auto const s = schedule_level(*find_algorithm("winograd"), {update::scaled, false, true, true});
  CHECK(numbers(s.before_sums) == product_numbers{2});
  CHECK(numbers(s.before_update) == product_numbers{5, 6, 7, 1, 3, 4});
  CHECK(s.after_update.empty());
  std::multiset<role> homes;
  for (auto const& p : s.before_update)
    if (p.c.what != role::result) homes.insert(p.c.what);
  CHECK(homes.count(role::temporary) == 1);
  CHECK(homes.size() == 4);
}

TEST_CASE("an operand with one term is never copied: its coefficient travels with the product") {
  auto const s = schedule_level(*find_algorithm("winograd"), {});
  CHECK(s.sums_A.targets.size() == 4);
  CHECK(s.sums_B.targets.size() == 4);
  for (auto const& p : all_products(s)) {
    if (p.number + 1 == 1) CHECK((p.a == place{role::operand, 0} && p.b == place{role::operand, 0}));
    if (p.number + 1 == 4) CHECK((p.a == place{role::operand, 3} && p.coefficient == -1));
  }
}

TEST_CASE("products whose sums differ by a factor share one sum") {
  auto const s = schedule_level(repeated_sum(6, 0), {});
  CHECK(s.sums_A.targets.size() + 1 == schedule_level(*find_algorithm("strassen"), {}).sums_A.targets.size());
}

TEST_CASE("every block of C meets its update once, before anything is added to it") {
  for (auto const& x : known(29))
    for (auto how : {update::overwrite, update::scaled, update::accumulate})
      for (bool independent : {false, true}) {
        INFO(x->name << " " << static_cast<int>(how) << " " << independent);
        auto const s = schedule_level(*x, {how, independent, true, true});
        std::vector<std::vector<update>> met(x->W.rows);
        auto const products = [&](std::vector<scheduled_product> const& list) {
          for (auto const& p : list)
            if (p.c.what == role::result && (how != update::overwrite || p.how == update::accumulate || independent))
              met[p.c.index].push_back(p.how);
        };
        products(s.before_sums);
        products(s.before_update);
        for (auto const& t : s.update_C.targets) met[t.where.index].push_back(t.how);
        products(s.after_update);
        CHECK(all_products(s).size() == static_cast<std::size_t>(x->rank()));
        bool const in_place = how == update::overwrite && !independent;
        for (auto const& updates : met)
          for (std::size_t i = 0; i < updates.size(); ++i)
            if (i > 0 || !in_place) CHECK(updates[i] == (i == 0 ? how : update::accumulate));
      }
}

TEST_CASE("independent products write to places of their own") {
  for (auto const& x : known(29)) {
    auto const s = schedule_level(*x, {update::overwrite, true, true, true});
    CHECK(s.after_update.empty());
    std::set<int> temporaries;
    for (auto const& p : all_products(s))
      if (p.c.what == role::temporary) CHECK(temporaries.insert(p.c.index).second);
    for (auto const& p : all_products(s)) CHECK((p.c.what == role::temporary || p.c.what == role::result));
  }
}

TEST_CASE("a sum is reused only when no later product needs it") {
  for (auto how : {update::overwrite, update::accumulate}) {
    for (auto const& x : known(29)) CHECK(keeps_sums_that_are_needed(schedule_level(*x, {how, false, true, true})));
    for (int r = 0; r < 7; ++r)
      for (int s = 0; s < 7; ++s)
        if (r != s) CHECK(keeps_sums_that_are_needed(schedule_level(repeated_sum(r, s), {how, false, true, true})));
  }
}

TEST_CASE("products for which most others wait come first, and those that wait for each other keep their order") {
  for (auto how : {update::overwrite, update::accumulate})
    for (auto const& x : known(29)) {
      level_schedule const s = schedule_level(*x, {how, false, true, true});
      for (auto const* list : {&s.before_update, &s.after_update}) {
        std::vector<scheduled_product> sorted = *list;
        put_longest_chains_first(sorted);
        CAPTURE(x->name, numbers(*list), numbers(sorted));
        REQUIRE(std::ranges::is_permutation(numbers(sorted), numbers(*list)));
        auto const place_of = [&](scheduled_product const& p) {
          return std::ranges::find(sorted, p.number, &scheduled_product::number) - sorted.begin();
        };
        std::function<int(std::size_t)> const waiting_for = [&](std::size_t i) {
          int longest = 0;
          for (std::size_t j = i + 1; j < list->size(); ++j) {
            scheduled_product const &first = (*list)[i], &then = (*list)[j];
            if (then.c != first.c && then.c != first.a && then.c != first.b) continue;
            CHECK(place_of(first) < place_of(then));
            longest = std::max(longest, 1 + waiting_for(j));
          }
          return longest;
        };
        std::vector<int> chains(list->size());
        for (std::size_t i = 0; i < list->size(); ++i)
          chains[static_cast<std::size_t>(place_of((*list)[i]))] = waiting_for(i);
        CHECK(std::ranges::is_sorted(chains, std::greater<>()));
      }
    }
}
