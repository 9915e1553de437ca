// SPDX-License-Identifier: BSD-3-Clause
// `heptad bench` from outside: it writes the record that bench/README.md describes, and says what it cannot do.
#include <sys/wait.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/temporary_folder.hpp"

namespace {

using folder = heptad::test::temporary_folder;

std::string text_of(std::filesystem::path const& file) {
  std::ifstream in(file);
  return (std::stringstream() << in.rdbuf()).str();
}

int run(std::string const& arguments, folder const& place) {
  std::string const command = std::string(HEPTAD_PROGRAM) + " bench " + arguments + " >" +
                              (place.path() / "out").string() + " 2>" + (place.path() / "err").string();
  return WEXITSTATUS(std::system(command.c_str()));
}

}  // namespace

TEST_CASE("the record has a checked result for every type, thread count and shape") {
  folder const place;
  auto const file = place.path() / "record.json";
  REQUIRE(
      run("gemm --sizes 96 --shapes 70x33x51 --type d,s --threads 1,2 --reps 2 --min-seconds 0 --peers none --json " +
              file.string(),
          place) == 0);
  auto const record = nlohmann::json::parse(text_of(file));
  CHECK(record.at("schema") == 1);
  CHECK(record.at("machine").at("cores") >= 1);
  CHECK(record.at("commit").contains("hash"));
  CHECK(record.at("libraries").at(0).at("name") == "heptad");
  REQUIRE(record.at("cases").size() == 8);
  for (auto const& one : record.at("cases")) {
    auto const& own = one.at("results").at(0);
    CHECK(own.at("valid") == true);
    CHECK(own.at("calls") >= 2);
    CHECK(own.at("seconds").at("min") <= own.at("seconds").at("median"));
    CHECK(own.at("memory").at("peak") >= own.at("memory").at("operands"));
    CHECK(own.at("last_call").at("plan").contains("levels"));
    CHECK_FALSE(one.contains("ratio"));  // there was nobody to compare with
  }
}

TEST_CASE("cold operands are more than the caches hold") {
  folder const place;
  auto const file = place.path() / "record.json";
  REQUIRE(run("gemm --sizes 96 --beta 0.5 --cold --reps 1 --min-seconds 0 --peers none --json " + file.string(),
              place) == 0);
  auto const record = nlohmann::json::parse(text_of(file));
  auto const& one = record.at("cases").at(0);
  CHECK(one.at("results").at(0).at("valid") == true);
  std::size_t const caches = record.at("machine").value("l3_bytes", 0), set = 3 * 96 * 96 * sizeof(double);
  CHECK(one.at("operand_sets").get<std::size_t>() * set > 2 * caches);
  CHECK(one.at("results").at(0).at("memory").at("operands") == one.at("operand_sets").get<std::size_t>() * set);
  CHECK_THAT(text_of(place.path() / "out"), Catch::Contains("96 cold"));
}

TEST_CASE("a peer that cannot be loaded is named") {
  folder const place;
  CHECK(run("gemm --sizes 64 --peers openblas=/nowhere/libopenblas.so", place) == 1);
  CHECK_THAT(text_of(place.path() / "err"), Catch::Contains("openblas") && Catch::Contains("/nowhere/libopenblas.so"));
}

TEST_CASE("where no case was measured a record is not said to be written") {
  folder const place;
  std::string const file = (place.path() / "record.json").string(),
                    command =
                        GENERATE(as<std::string>(), "gemm --sizes 10000000 --peers none", "planner --seconds 1e-9");
  CHECK(run(command + " --json " + file, place) == 1);
  std::string const said = text_of(place.path() / "err");
  INFO(said);
  CHECK(said.ends_with("heptad: no case was measured\n"));
  CHECK(said.find("written") == std::string::npos);
  CHECK_FALSE(std::filesystem::exists(file));
}
