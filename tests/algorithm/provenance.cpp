// SPDX-License-Identifier: BSD-3-Clause
// Where the coefficients under algorithms/ come from: every file says it, and so that it can be found again.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

#include "src/algorithm/algorithm.hpp"

using namespace heptad;

namespace {

namespace fs = std::filesystem;

std::set<std::string> const printed{"classical", "huang323", "strassen", "winograd"};

/// Everything that decides what a search finds: one thread and a limit on moves, so that the clock has no part in it.
std::regex const search_line(R"(heptad search (\d+) (\d+) (\d+) --rank (\d+))"
                             R"(( --method (?:least-squares|sparse-flips))?( --symmetry \d+)?)"
                             R"( --objective (additions|stability|rank) --seed \d+ --seconds \d+ --moves \d+)"
                             R"((?: --from (\w+\.txt))? --name (\w+))"
                             R"( \(run 1, \d+ moves\), Heptad \d+\.\d+\.\d+, 20\d\d-\d\d-\d\d: \S.*)");

/// The search that writes a file which another one starts from: the form that a name stands for may change.
std::regex start_line(std::string const& file) {
  return std::regex("; " + file + R"(: heptad search \d+ \d+ \d+ --rank .* --seed \d+ .* --moves \d+ -o )" + file);
}

}  // namespace

TEST_CASE("every file under algorithms/ names the print that it is from, or the search that finds it again") {
  int found = 0;
  for (auto const& entry : fs::directory_iterator(HEPTAD_ALGORITHMS_DIR)) {
    if (entry.path().extension() != ".txt") continue;
    std::ifstream file(entry.path());
    algorithm_header const x = parse_header({std::istreambuf_iterator<char>(file), {}}, entry.path().string());
    INFO(x.name << ": " << x.source);
    if (printed.count(x.name) > 0) {
      if (x.name != "classical") CHECK(std::regex_search(x.source, std::regex(R"(\((19|20)\d\d\))")));
      continue;
    }
    std::smatch parts;
    REQUIRE(std::regex_match(x.source, parts, search_line));
    CHECK((std::stoi(parts[1]) == x.m && std::stoi(parts[2]) == x.k && std::stoi(parts[3]) == x.n));
    CHECK(std::stoi(parts[4]) >= x.rank);
    CHECK(parts[9] == x.name);
    if (parts[8].matched) CHECK(std::regex_search(x.source, start_line(parts[8])));
    ++found;
  }
  CHECK(found > 0);
}
