// SPDX-License-Identifier: BSD-3-Clause
// heptad verify FILE...: checks the Brent equations and the additions programs of algorithm files exactly.
#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include <heptad/heptad.hpp>

#include "src/algorithm/algorithm.hpp"
#include "tools/algorithm_json.hpp"
#include "tools/commands.hpp"
#include "tools/print_json.hpp"

namespace heptad::tools {
namespace {

struct verify_arguments {
  std::vector<std::string> files;
  bool json = false;
};

nlohmann::json check(std::string const& file) {
  try {
    algorithm const x = load_algorithm(file);
    algorithm plain = x;
    set_plain_programs(plain);
    nlohmann::json verdict = describe_algorithm(x);
    verdict.update({{"file", file}, {"additions_without_program", all_additions(plain)}, {"passed", true}});
    return verdict;
  } catch (error const& e) {
    return {{"file", file}, {"passed", false}, {"error", e.what()}};
  }
}

void print_verdict(nlohmann::json const& result) {
  if (!result["passed"].get<bool>()) {
    fmt::print("FAIL  {}\n", result["error"].get<std::string>());
    return;
  }
  auto const number = [&result](char const* key) { return result[key].get<int>(); };
  fmt::print("PASS  {}: {} <{},{},{};{}>, {} nonzeros, {} additions ({} without program), stability factor {:g}\n",
             result["file"].get<std::string>(), result["name"].get<std::string>(), number("m"), number("k"),
             number("n"), number("rank"), number("nonzeros"), number("additions"), number("additions_without_program"),
             result["stability_factor"].get<double>());
}

void run(verify_arguments const& given) {
  auto results = nlohmann::json::array();
  std::size_t failed = 0;
  for (std::string const& file : given.files) {
    results.push_back(check(file));
    failed += results.back()["passed"].get<bool>() ? 0 : 1;
    if (!given.json) print_verdict(results.back());
  }
  if (given.json) print_json(results);
  if (failed > 0) throw std::runtime_error(fmt::format("{} of {} files failed", failed, given.files.size()));
}

}  // namespace

void add_verify_command(CLI::App& app) {
  auto const given = std::make_shared<verify_arguments>();
  auto* const command = app.add_subcommand("verify", "Check algorithm files exactly, by the Brent equations");
  command->add_option("files", given->files, "algorithm files (see algorithms/README.md)")->required();
  command->add_flag("--json", given->json, "print JSON");
  command->callback([given] { run(*given); });
}

}  // namespace heptad::tools
