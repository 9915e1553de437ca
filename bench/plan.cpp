// SPDX-License-Identifier: BSD-3-Clause
// How long a plan takes: every size, number of workers and cap on the workspace, with the profile of this machine.
// Prints a record.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <heptad/heptad.hpp>

#include "src/api/context.hpp"
#include "src/api/diagnostics.hpp"
#include "src/api/median.hpp"
#include "src/plan/planner.hpp"
#include "tools/bench/record.hpp"

namespace {

using namespace heptad;

/// Of the memory of A, B and C; none: as much as is free.
std::vector<std::optional<double>> const caps{std::nullopt, 1.0, 0.25, 1.0 / 16, 0.0};

struct shape_of_case {
  char const* name;
  double m, n, k;  // of the size
};
constexpr shape_of_case shapes[] = {{"square", 1, 1, 1}, {"rank-k", 1, 1, 0.125}, {"odd", 0.997, 1.003, 0.99}};

nlohmann::json measure(machine_profile const& machine, std::int64_t n, shape_of_case const& s, int workers,
                       std::optional<double> cap, int rounds) {
  auto const side = [n](double of_n) { return static_cast<std::int64_t>(of_n * static_cast<double>(n)); };
  problem const shape{side(s.m), side(s.n), side(s.k), false, false, false, true};
  options wishes;
  double const operands = 8.0 * static_cast<double>(shape.m * shape.k + shape.k * shape.n + shape.m * shape.n);
  if (cap) wishes.max_workspace = static_cast<std::size_t>(*cap * operands);
  std::vector<double> seconds;
  std::string levels;
  for (int round = -1; round < rounds; ++round) {
    using clock = std::chrono::steady_clock;
    auto const begin = clock::now();
    plan const p = choose_plan(element_type::f64, shape, workers, std::size_t{1} << 40, machine, wishes);
    if (round >= 0) seconds.push_back(std::chrono::duration<double>(clock::now() - begin).count());
    levels = describe_levels(p);
  }
  nlohmann::json row{{"shape", s.name},
                     {"n", n},
                     {"workers", workers},
                     {"seconds", median(seconds)},
                     {"most_seconds", *std::ranges::max_element(seconds)},
                     {"levels", levels}};
  row["cap_of_operands"] = cap ? nlohmann::json(*cap) : nlohmann::json();
  return row;
}

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app("How long plans take");
  std::vector<std::int64_t> sizes{512, 1024, 2048, 4096, 8192, 16384, 32768};
  std::vector<int> workers{1, 2, 8, 64};
  int rounds = 9;
  app.add_option("--sizes", sizes)->delimiter(',');
  app.add_option("--workers", workers)->delimiter(',');
  app.add_option("--rounds", rounds, "plans of a case")->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  context here(1);
  machine_profile const& machine = here.state().machine();
  nlohmann::json record = bench::record_origin("plan");
  for (std::int64_t const n : sizes)
    for (shape_of_case const& s : shapes)
      for (int const w : workers)
        for (auto const& cap : caps) record["cases"].push_back(measure(machine, n, s, w, cap, rounds));
  fmt::print("{}\n", record.dump(1));
  return 0;
} catch (std::exception const& e) {
  fmt::print(stderr, "{}\n", e.what());
  return 1;
}
