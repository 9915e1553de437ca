// SPDX-License-Identifier: BSD-3-Clause
#include <catch2/catch.hpp>
#include <filesystem>
#include <set>
#include <thread>

#include "src/algorithm/algorithm.hpp"
#include "tests/algorithm/known.hpp"
#include "tests/algorithm/reference.hpp"

using namespace heptad;
using heptad::test::known;

TEST_CASE("every built-in algorithm verifies, multiplies matrices and names its source") {
  for (auto const& x : known()) {
    INFO(x->name);
    CHECK_NOTHROW(verify(*x));
    heptad::test::require_multiplies(*x);
    CHECK(!x->source.empty());
  }
}

TEST_CASE("every row of the table of algorithms of Huang (2018, figure 4.2) is known at its rank") {
  struct expectation {
    char const* shape;
    int m, k, n, rank;
  };
  for (auto const& [shape, m, k, n, rank] : {expectation{"2x2x2", 2, 2, 2, 7}, {"2x3x2", 2, 3, 2, 11},
                                             {"2x3x4", 2, 3, 4, 20},           {"2x4x3", 2, 4, 3, 20},
                                             {"2x5x2", 2, 5, 2, 18},           {"3x2x2", 3, 2, 2, 11},
                                             {"3x2x3", 3, 2, 3, 15},           {"3x2x4", 3, 2, 4, 20},
                                             {"3x3x2", 3, 3, 2, 15},           {"3x3x3", 3, 3, 3, 23},
                                             {"3x3x6", 3, 3, 6, 40},           {"3x4x2", 3, 4, 2, 20},
                                             {"3x4x3", 3, 4, 3, 29},           {"3x5x3", 3, 5, 3, 36},
                                             {"3x6x3", 3, 6, 3, 40},           {"4x2x2", 4, 2, 2, 14},
                                             {"4x2x3", 4, 2, 3, 20},           {"4x2x4", 4, 2, 4, 26},
                                             {"4x3x2", 4, 3, 2, 20},           {"4x3x3", 4, 3, 3, 29},
                                             {"4x4x2", 4, 4, 2, 26},           {"5x2x2", 5, 2, 2, 18},
                                             {"6x3x3", 6, 3, 3, 40},           {"<3,4,4;38>", 3, 4, 4, 38},
                                             {"⟨3,4,5⟩", 3, 4, 5, 47},         {"4,4,4", 4, 4, 4, 48},
                                             {"<4,4,4;49>", 4, 4, 4, 49},      {"1x1x1", 1, 1, 1, 1}}) {
    INFO(shape);
    auto const x = find_algorithm(shape);
    REQUIRE(x);
    CHECK((x->m == m && x->k == k && x->n == n && x->rank() == rank));
  }
}

TEST_CASE("an algorithm is found by its name, by that of a symmetry and as a composition") {
  for (char const* name : {"classical", "strassen", "winograd", "huang323", "huang233", "huang332", "sparse345",
                           "sparse543", "sparse354", "strassen*strassen", "strassen*huang323*classical"}) {
    INFO(name);
    auto const x = find_algorithm(name);
    REQUIRE(x);
    CHECK(x->name == name);
    CHECK(find_algorithm(name) == x);
  }
  auto const turned = find_algorithm("sparse543");
  CHECK((turned->m == 5 && turned->k == 4 && turned->n == 3));
  for (char const* name : {"nobody", "", "sparse999", "3x2", "3x2x3x2", "0x1x1", "<3,2,3", "3,2,3>", "<3,2,3;>",
                           "<3,2,3;14>", "strassen*", "*strassen", "strassen*nobody", "99999999999x2x2"}) {
    INFO(name);
    CHECK(find_algorithm(name) == nullptr);
  }
  CHECK_THROWS_WITH(find_algorithm("sparse345*sparse345"), Catch::Contains("no side may have more than 16 blocks"));
}

TEST_CASE("of one shape and rank the algorithm with the fewest coefficients is found") {
  for (algorithm_header const& x : known_algorithms()) {
    INFO(x.name);
    auto const chosen = find_algorithm(std::to_string(x.m) + "x" + std::to_string(x.k) + "x" + std::to_string(x.n));
    REQUIRE(chosen);
    CHECK(chosen->rank() <= x.rank);
    if (chosen->rank() == x.rank) CHECK(nonzeros(*chosen) <= nonzeros(*find_algorithm(x.name)));
  }
}

TEST_CASE("the list of algorithms tells what their files hold") {
  for (algorithm_header const& x : known_algorithms()) {
    INFO(x.name);
    auto const y = find_algorithm(x.name);
    CHECK((y->name == x.name && y->m == x.m && y->k == x.k && y->n == x.n && y->rank() == x.rank));
  }
}

TEST_CASE("names are unique and every file under algorithms/ is built in") {
  std::set<std::string> names;
  for (auto const& x : known_algorithms()) CHECK(names.insert(x.name).second);
  for (auto const& entry : std::filesystem::directory_iterator(HEPTAD_ALGORITHMS_DIR))
    if (entry.path().extension() == ".txt") CHECK(names.count(entry.path().stem().string()) == 1);
}

TEST_CASE("threads that ask at once get the same algorithm") {
  std::vector<std::shared_ptr<algorithm const>> found(8);
  std::vector<std::thread> threads;
  for (auto& x : found) threads.emplace_back([&x] { x = find_algorithm("winograd"); });
  for (auto& thread : threads) thread.join();
  for (auto const& x : found) CHECK((x && x == found[0]));
}
