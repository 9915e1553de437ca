// SPDX-License-Identifier: BSD-3-Clause
// Where the coefficients under algorithms/ come from: every file says it, and so that it can be found again.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ranges>
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
                             R"((?: --from (\w+(?:\+\w+)?|\w+\.txt))? --name (\w+))"
                             R"( \(run 1, \d+ moves\), Heptad \d+\.\d+\.\d+, 20\d\d-\d\d-\d\d: \S.*)");

/// What a search starts from is known by name, or a file that a command on the same line writes.
void check_start(std::string const& from, std::string const& source) {
  if (from.ends_with(".txt")) {
    std::regex const command("; " + from + R"(: heptad search \d+ \d+ \d+ --rank .* --seed \d+ .* --moves \d+ -o )" +
                             from);
    CHECK(std::regex_search(source, command));
    return;
  }
  for (auto const name : std::views::split(from, '+'))
    if (!name.empty()) CHECK(find_algorithm(std::string(name.begin(), name.end())));
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
    check_start(parts[8], x.source);
    ++found;
  }
  CHECK(found > 0);
}
