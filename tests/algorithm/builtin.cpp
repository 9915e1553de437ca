// SPDX-License-Identifier: BSD-3-Clause
#include <catch2/catch.hpp>
#include <filesystem>
#include <set>
#include <thread>

#include "src/algorithm/algorithm.hpp"
#include "tests/algorithm/reference.hpp"

using namespace heptad;

TEST_CASE("every built-in algorithm verifies, multiplies integer matrices and names its source") {
  for (auto const& x : algorithms()) {
    INFO(x->name);
    CHECK_NOTHROW(verify(*x));
    heptad::test::require_multiplies(*x);
    CHECK(!x->source.empty());
  }
}

TEST_CASE("the built-in algorithms have their shapes and ranks") {
  struct expectation {
    char const* name;
    int m, k, n, rank;
  };
  for (auto const& [name, m, k, n, rank] :
       {expectation{"classical", 1, 1, 1, 1}, expectation{"strassen", 2, 2, 2, 7}, expectation{"winograd", 2, 2, 2, 7},
        expectation{"huang323", 3, 2, 3, 15}, expectation{"huang233", 2, 3, 3, 15},
        expectation{"huang332", 3, 3, 2, 15}}) {
    INFO(name);
    auto const x = find_algorithm(name);
    REQUIRE(x);
    CHECK(x->name == name);
    CHECK((x->m == m && x->k == k && x->n == n && x->rank() == rank));
  }
  CHECK(find_algorithm("nobody") == nullptr);
  CHECK(find_algorithm("") == nullptr);
}

TEST_CASE("names are unique and every file under algorithms/ is built in") {
  std::set<std::string> names;
  for (auto const& x : algorithms()) CHECK(names.insert(x->name).second);
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
