// SPDX-License-Identifier: BSD-3-Clause
// The search: what it finds multiplies matrices, and it finds the same again. No test depends on the clock: the limit
// is on moves, and the one on seconds is never reached.
#include "src/search/search.hpp"

#include <catch2/catch.hpp>
#include <heptad/heptad.hpp>
#include <nlohmann/json.hpp>

#include "src/search/anneal.hpp"
#include "src/search/flip_walk.hpp"
#include "src/search/join.hpp"
#include "src/search/least_squares.hpp"
#include "src/search/lift.hpp"
#include "src/search/linear_system.hpp"
#include "tests/algorithm/reference.hpp"

using namespace heptad;
using namespace heptad::search;

namespace {

settings moves_only(search::shape what, std::int64_t moves) {
  settings how;
  how.what = what;
  how.seconds = 1e9;
  how.most_moves = moves;
  return how;
}

knowledge quietly(settings const& how, std::optional<knowledge> from = std::nullopt) {
  return search::run(
      how, [](progress const&) {}, std::move(from));
}

/// Multiplies random matrices of bits with the scheme.
bool multiplies_bits(binary_scheme const& x) {
  std::mt19937_64 random(3);
  for (int trial = 0; trial < 200; ++trial) {
    bits const A = random(), B = random();
    bits C = 0, sum = 0;
    for (int i = 0; i < x.shape.m; ++i)
      for (int j = 0; j < x.shape.k; ++j)
        for (int l = 0; l < x.shape.n; ++l)
          C ^= (A >> (i * x.shape.k + j) & B >> (j * x.shape.n + l) & 1) << (i * x.shape.n + l);
    for (int r = 0; r < x.rank(); ++r)
      if (std::popcount(A & x.factors[0][r]) % 2 == 1 && std::popcount(B & x.factors[1][r]) % 2 == 1)
        sum ^= x.factors[2][r];
    if (sum != C) return false;
  }
  return true;
}

binary_scheme strassen_as_bits() {
  auto const x = find_algorithm("strassen");
  binary_scheme y{{2, 2, 2}, {}};
  coefficient_matrix const* const matrices[] = {&x->U, &x->V, &x->W};
  for (int f = 0; f < 3; ++f)
    for (int r = 0; r < 7; ++r) {
      y.factors[f].push_back(0);
      for (int i = 0; i < 4; ++i)
        if (!(*matrices[f])(i, r).is_zero()) y.factors[f][r] |= bits{1} << i;
    }
  return y;
}

}  // namespace

TEST_CASE("a search finds 15 products for <3,2,3>, and what it finds multiplies") {
  settings how = moves_only({3, 2, 3}, 50'000'000);
  how.rank = 15;
  knowledge const known = quietly(how);
  REQUIRE(known.best);
  CHECK(known.best->rank() == 15);
  CHECK(multiplies_bits(known.lowest));
  heptad::test::require_multiplies(*known.best);
}

TEST_CASE("two threads find Strassen's rank as well") {
  settings how = moves_only({2, 2, 2}, 50'000'000);
  how.rank = 7;
  how.threads = 2;
  knowledge const known = quietly(how);
  REQUIRE(known.best);
  CHECK(known.best->rank() == 7);
  heptad::test::require_multiplies(*known.best);
}

TEST_CASE("with one thread and a limit on moves a search finds the same again, and with another seed another") {
  settings how = moves_only({2, 3, 2}, 2'000'000);
  how.aim = objective::additions;
  std::string const first = to_text(quietly(how));
  CHECK(to_text(quietly(how)) == first);
  how.seed = 2;
  CHECK(to_text(quietly(how)) != first);
}

TEST_CASE("the objective is what gets better") {
  settings how = moves_only({2, 2, 3}, 2'000'000);
  how.rank = 11;
  how.aim = objective::stability;
  knowledge const stable = quietly(how);
  how.aim = objective::predicted_time;
  how.predicted_seconds = [](algorithm const& x) { return 1e3 - nonzeros(x); };  // the more the better
  knowledge const dense = quietly(how);
  REQUIRE((stable.best && dense.best));
  how.aim = objective::stability;
  CHECK(value_of(*stable.best, how) <= 12 * 12 * 13);  // as the file sparse223 has
  CHECK(nonzeros(*dense.best) > nonzeros(*stable.best));
}

TEST_CASE("annealed over GF(2) a scheme still multiplies, with fewer ones, and searches that do so lift it") {
  auto const ones = [](binary_scheme const& x) {
    int count = 0;
    for (auto const& factor : x.factors)
      for (bits const vector : factor) count += std::popcount(vector);
    return count;
  };
  generator random(5);
  flip_walk walk(knowledge_of(*find_algorithm("sparse333")).lowest, random);
  for (int i = 0; i < 100'000; ++i) walk.flip();
  binary_scheme const sparser = sparsify(walk.scheme(), 300'000, random).scheme;
  CHECK(multiplies_bits(sparser));
  CHECK(sparser.rank() == walk.rank());
  CHECK(ones(sparser) < ones(walk.scheme()));

  settings how = moves_only({2, 3, 3}, 6'000'000);
  how.rank = 15;
  how.by = method::sparse_flips;
  how.aim = objective::additions;
  knowledge const known = quietly(how);
  REQUIRE(known.best);
  CHECK(known.best->rank() == 15);
  heptad::test::require_multiplies(*known.best);
}

TEST_CASE("a search goes on from what an earlier one knew") {
  settings how = moves_only({3, 3, 3}, 200'000);
  knowledge const first = quietly(how);
  knowledge const again = quietly(how, from_text(to_text(first), how.what));
  CHECK(again.lowest.rank() <= first.lowest.rank());
  CHECK(again.moves > first.moves);
  CHECK(again.runs == first.runs + 1);
}

TEST_CASE("least squares find exact algorithms of the lowest rank") {
  for (auto const& [what, rank] : {std::pair{search::shape{2, 2, 2}, 7}, {{2, 2, 3}, 11}, {{1, 2, 3}, 6}}) {
    settings how = moves_only(what, 50'000);
    how.by = method::least_squares;
    how.rank = rank;
    knowledge const known = quietly(how);
    REQUIRE(known.best);
    CHECK(known.best->rank() == rank);
    heptad::test::require_multiplies(*known.best);
  }
}

TEST_CASE("the symmetry that least squares are asked for permutes the terms") {
  for (auto const& [what, rank] : {std::pair{search::shape{2, 2, 4}, 14}, {{3, 1, 4}, 12}}) {
    settings how = moves_only(what, 50'000);
    how.by = method::least_squares;
    how.rank = rank;
    how.symmetry = 2;
    knowledge const known = quietly(how);
    REQUIRE(known.best);
    algorithm const& x = *known.best;
    CHECK(x.rank() == rank);
    heptad::test::require_multiplies(x);
    // Rows and columns change places in pairs: 0 with 1, 2 with 3; one that is left over stays.
    auto const partner = [](int i, int count) { return (i ^ 1) < count ? i ^ 1 : i; };
    auto const is_moved = [&](coefficient_matrix const& f, int rows, int columns, int term, int other) {
      for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j)
          if (f(partner(i, rows) * columns + partner(j, columns), term) != f(i * columns + j, other)) return false;
      return true;
    };
    for (int term = 0; term < rank; ++term) {
      int same = 0;
      for (int other = 0; other < rank; ++other)
        if (is_moved(x.U, x.m, x.k, term, other) && is_moved(x.V, x.k, x.n, term, other) &&
            is_moved(x.W, x.m, x.n, term, other))
          ++same;
      CHECK(same == 1);
    }
  }
}

TEST_CASE("a search from an algorithm keeps its rank and makes it better") {
  settings how = moves_only({3, 2, 3}, 3'000'000);
  how.rank = 15;
  how.aim = objective::additions;
  knowledge const known = quietly(how, knowledge_of(*find_algorithm("huang323")));
  REQUIRE(known.best);
  CHECK(known.best->rank() == 15);
  CHECK(all_additions(*known.best) < all_additions(*find_algorithm("huang323")));
  heptad::test::require_multiplies(*known.best);
  algorithm halves = *find_algorithm("strassen");
  halves.U(0, 0) = rational(1, 2);
  CHECK_THROWS_WITH(knowledge_of(halves), Catch::Contains("has the coefficient 1/2"));
}

TEST_CASE("two algorithms side by side are one, along any side") {
  auto const x = *find_algorithm("sparse323"), y = *find_algorithm("sparse223");
  algorithm const sums[] = {search::join(x, y, {5, 2, 3}), search::join(rotate(x), rotate(y), {2, 3, 5}),
                            search::join(rotate(rotate(x)), rotate(rotate(y)), {3, 5, 2})};
  for (algorithm const& sum : sums) {
    CHECK(sum.rank() == x.rank() + y.rank());
    CHECK_NOTHROW(verify(sum));
    heptad::test::require_multiplies(sum);
  }
  CHECK_THROWS_WITH(search::join(x, y, {3, 4, 3}), Catch::Contains("do not make <3,4,3>"));
  settings how = moves_only({2, 2, 4}, 3'000'000);
  how.rank = 14;
  knowledge const known =
      quietly(how, knowledge_of(search::join(*find_algorithm("strassen"), *find_algorithm("strassen"), how.what)));
  CHECK(known.best->rank() == 14);
}

TEST_CASE("a smaller algorithm grows to any shape that has room for it, the rest being classical") {
  auto const x = *find_algorithm("sparse223");
  for (search::shape const& what : {search::shape{2, 2, 4}, {3, 2, 3}, {2, 5, 3}, {4, 3, 5}}) {
    algorithm const grown = search::extend(x, what);
    CHECK(grown.rank() == x.rank() + what.m * what.k * what.n - 2 * 2 * 3);
    CHECK_NOTHROW(verify(grown));
    heptad::test::require_multiplies(grown);
  }
  CHECK(search::extend(x, {2, 2, 3}).name == "sparse223");
  CHECK_THROWS_WITH(search::extend(x, {3, 3, 2}), Catch::Contains("sparse223 <2,2,3> does not fit into <3,3,2>"));
  settings how = moves_only({2, 2, 4}, 3'000'000);
  how.rank = 14;
  CHECK(quietly(how, knowledge_of(search::extend(x, how.what))).best->rank() == 14);
}

TEST_CASE("the state of a search is not believed") {
  search::shape const what{2, 2, 2};
  settings how = moves_only(what, 2'000'000);
  how.rank = 7;
  std::string const good = to_text(quietly(how));
  CHECK(to_text(from_text(good, what)) == good);
  CHECK_THROWS_WITH(from_text(good, {2, 2, 3}), Catch::Contains("is for <2,2,2>, not <2,2,3>"));
  for (char const* text : {"", "{", "[]", "{}", "null", "{\"m\":2,\"k\":2,\"n\":2}"})
    CHECK_THROWS_WITH(from_text(text, what), Catch::Contains("the state of the search"));
  auto broken = nlohmann::json::parse(good);
  broken["lowest"][0][0] = broken["lowest"][0][0].get<bits>() ^ 1;
  CHECK_THROWS_WITH(from_text(broken.dump(), what), Catch::Contains("Brent equations over GF(2)"));
  broken = nlohmann::json::parse(good);
  broken["lowest"][1].erase(0);
  CHECK_THROWS_AS(from_text(broken.dump(), what), error);
  broken = nlohmann::json::parse(good);
  broken["lowest"][2][0] = -1;
  CHECK_THROWS_AS(from_text(broken.dump(), what), error);
  broken = nlohmann::json::parse(good);
  std::string best = broken["best"];
  best[best.find("\nU\n") + 4] = '7';
  broken["best"] = best;
  CHECK_THROWS_WITH(from_text(broken.dump(), what), Catch::Contains("Brent equation"));
}

TEST_CASE("settings out of range are refused") {
  auto const refused = [](auto change, char const* message) {
    settings how = moves_only({2, 2, 2}, 1000);
    change(how);
    CHECK_THROWS_WITH(quietly(how), Catch::Contains(message));
  };
  refused([](settings& s) { s.what.m = 0; }, "m = 0");
  refused([](settings& s) { s.what = {9, 9, 1}; }, "81 blocks, more than 64");
  refused([](settings& s) { s.rank = 0; }, "rank = 0");
  refused([](settings& s) { s.rank = 9; }, "rank = 9 must be from 1 to 8");
  refused([](settings& s) { s.threads = 0; }, "threads = 0");
  refused([](settings& s) { s.seconds = 0; }, "seconds = 0");
  refused([](settings& s) { s.most_moves = -1; }, "moves = -1");
  refused([](settings& s) { s.aim = objective::predicted_time; }, "no model");
  refused([](settings& s) { s.by = method::least_squares; }, "need the rank");
  refused([](settings& s) { s.symmetry = 2; }, "symmetry = 2 is for least squares alone");
  refused([](settings& s) { s.symmetry = 0; }, "symmetry = 0");
}

TEST_CASE("what a thread of a search throws ends it, and so does what is called meanwhile") {
  settings how = moves_only({2, 2, 2}, 0);
  how.threads = 2;
  CHECK_THROWS_WITH(search::run(how, [](progress const&) { throw error(status::internal_error, "watched"); }),
                    "watched");
  how.rank = 7;
  how.aim = objective::predicted_time;
  how.predicted_seconds = [](algorithm const&) -> double { throw error(status::internal_error, "predicted"); };
  CHECK_THROWS_WITH(quietly(how), "predicted");
}

TEST_CASE("flips and plus transitions keep the product over GF(2)") {
  generator random(5);
  flip_walk walk(classical_scheme({3, 2, 3}), random);
  REQUIRE(multiplies_bits(walk.scheme()));
  for (int i = 0; i < 2000; ++i) {
    if (i % 100 == 99) walk.plus();
    walk.flip();
    if (i % 10 == 0) REQUIRE(multiplies_bits(walk.scheme()));
    CHECK(holds(walk.scheme()));
  }
  binary_scheme broken = walk.scheme();
  broken.factors[0][0] ^= 1;
  CHECK_FALSE(holds(broken));
}

TEST_CASE("signs and Hensel lifting give back an algorithm over the integers") {
  auto const with_signs = lift_signs(strassen_as_bits());
  REQUIRE(with_signs);
  heptad::test::require_multiplies(to_algorithm(*with_signs));
  auto const lifted = hensel_lift(strassen_as_bits());
  REQUIRE(lifted);
  heptad::test::require_multiplies(*lifted);
  binary_scheme broken = strassen_as_bits();
  broken.factors[2][3] ^= 2;
  CHECK_FALSE(lift_signs(broken));
  CHECK_FALSE(hensel_lift(broken));
}

TEST_CASE("annealing keeps the product and lowers the energy") {
  generator random(7);
  for (aim const what : {aim::sparse, aim::stable}) {
    auto const start = to_ternary(*find_algorithm("huang323"));
    REQUIRE(start);
    auto const best = anneal(*start, what, 200'000, random);
    CHECK(best.energy < energy(*start, what));
    CHECK(best.energy == Approx(energy(best.scheme, what)));
    heptad::test::require_multiplies(to_algorithm(best.scheme));
  }
}

TEST_CASE("what takes long asks whether it may go on, and ends at the first no") {
  generator random(5);
  binary_scheme const scheme = knowledge_of(*find_algorithm("sparse333")).lowest;
  auto const start = to_ternary(*find_algorithm("sparse333"));
  REQUIRE(start);
  for (int const allowed : {0, 5, 100}) {
    auto const questions = [allowed](auto const& work) {
      int asked = 0;
      work([&asked, allowed] { return ++asked <= allowed; });
      return asked;
    };
    CHECK(questions([&](keep_going const& go_on) { CHECK_FALSE(lift_signs(scheme, go_on)); }) == allowed + 1);
    CHECK(questions([&](keep_going const& go_on) { CHECK_FALSE(hensel_lift(scheme, go_on)); }) == allowed + 1);
    std::int64_t done = 0;
    CHECK(questions([&](keep_going const& go_on) {
            auto const best = anneal(*start, aim::stable, 100'000, random, go_on);
            done = best.moves;
            heptad::test::require_multiplies(to_algorithm(best.scheme));
          }) == allowed + 1);
    CHECK((done >= allowed && done < 100'000));
    CHECK(questions([&](keep_going const& go_on) {
            CHECK(multiplies_bits(sparsify(scheme, 100'000, random, go_on).scheme));
          }) == allowed + 1);
    descent walk(scheme, random);
    CHECK(questions([&](keep_going const& go_on) { CHECK_FALSE(walk.run(1'000'000, go_on)); }) == allowed + 1);
    CHECK((walk.flips() >= allowed && walk.flips() < 1'000'000));
  }
  int steps = 0;
  auto const count_steps = [&steps] { return ++steps > 0; };
  CHECK_FALSE(fit({2, 2, 2}, 7, 1, random, count_steps, [] { return false; }).solved);
  CHECK(steps == 1);
}

TEST_CASE("linear systems over GF(2) are solved, or known to have no solution") {
  std::mt19937 random(11);
  for (int trial = 0; trial < 100; ++trial) {
    int const unknowns = 1 + static_cast<int>(random() % 150), equations = static_cast<int>(random() % 170);
    std::vector<bool> hidden(unknowns);
    for (auto&& x : hidden) x = random() % 2 != 0;
    std::vector<std::vector<int>> terms(equations);
    std::vector<bool> right(equations);
    linear_system system(unknowns), impossible(unknowns);
    for (int e = 0; e < equations; ++e) {
      for (auto* s : {&system, &impossible}) s->add_equation();
      for (int i = 0; i < unknowns; ++i)
        if (random() % 4 == 0) {
          terms[e].push_back(i);
          right[e] = right[e] != hidden[i];
          for (auto* s : {&system, &impossible}) s->flip_unknown(i);
        }
      if (right[e])
        for (auto* s : {&system, &impossible}) s->flip_right_side();
    }
    auto const solution = system.solve();
    REQUIRE(solution);
    for (int e = 0; e < equations; ++e) {
      bool sum = false;
      for (int const i : terms[e]) sum = sum != (*solution)[i];
      CHECK(sum == right[e]);
    }
    if (equations == 0) continue;
    // The same equation once more, with the other right side.
    impossible.add_equation();
    for (int const i : terms[0]) impossible.flip_unknown(i);
    if (!right[0]) impossible.flip_right_side();
    CHECK_FALSE(impossible.solve());
  }
}
