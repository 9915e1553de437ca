// SPDX-License-Identifier: BSD-3-Clause
// `heptad bench accuracy`: how the error grows with algorithm and levels, beside the model and the proved bound, and
// what scaling does for badly scaled data. The model of src/plan/accuracy.cpp is calibrated by its record.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <memory>
#include <set>

#include "src/algorithm/algorithm.hpp"
#include "tools/bench/accuracy.hpp"
#include "tools/bench/record.hpp"
#include "tools/bench/table.hpp"
#include "tools/bounds.hpp"
#include "tools/commands.hpp"
#include "tools/output_file.hpp"

namespace heptad::bench {
namespace {

struct accuracy_options {
  std::vector<std::int64_t> sizes{512, 1024, 2048};
  std::vector<std::string> types{"d", "s"};
  std::vector<std::string> algorithms;
  int levels = 3;
  std::string json_file;
};

/// Of the symmetries of a shape one, of the square ones all.
std::vector<std::string> one_of_every_shape() {
  std::set<std::array<int, 3>> seen;
  std::vector<std::string> names;
  for (algorithm_header const& x : known_algorithms()) {
    std::array<int, 3> sides{x.m, x.k, x.n};
    std::sort(sides.begin(), sides.end());
    bool const square = sides.front() == sides.back();
    if (x.rank < x.m * x.k * x.n && (seen.insert(sides).second || square)) names.push_back(x.name);
  }
  return names;
}

std::vector<accuracy_contestant> growth_contestants(accuracy_options const& wishes) {
  std::vector<accuracy_contestant> who;
  for (std::string const& name : wishes.algorithms)
    for (int levels = 1; levels <= wishes.levels; ++levels) who.push_back({name, levels, scaling_kind::none});
  return who;
}

std::vector<accuracy_contestant> scaling_contestants() {
  std::vector<accuracy_contestant> who;
  for (auto const kind : {scaling_kind::none, scaling_kind::outside, scaling_kind::inside, scaling_kind::both})
    who.push_back({"winograd", 2, kind});
  return who;
}

void print(nlohmann::json const& rows) {
  for (nlohmann::json const& row : rows)
    fmt::print(
        "{:<2}{:>6} {:<9}{:<14}{:>2} {:>2}  error {:9.2e}  growth {:6.2f} (expected {:6.2f})  relative {:9.2e}  "
        "bounds/error, likely {:6.3g}, proved {:9.3g}\n",
        row["type"].get<std::string>(), row["n"].get<std::int64_t>(), row["data"].get<std::string>(),
        row["algorithm"].get<std::string>(), row["levels"].get<int>(), row["scaling"].get<int>(),
        row["max_error"].get<double>(), row["growth"].get<double>(), row["expected_growth"].get<double>(),
        row["relative_error"].get<double>(), row["likely_bound"].get<double>() / row["max_error"].get<double>(),
        row["bound"].get<double>() / row["max_error"].get<double>());
}

void bench_accuracy(accuracy_options wishes) {
  if (wishes.algorithms.empty()) wishes.algorithms = one_of_every_shape();
  for (std::string const& name : wishes.algorithms) tools::check_wishes({.algorithm = name});
  tools::require_writable(wishes.json_file);
  status_line status;
  nlohmann::json record = record_origin("accuracy");
  record["grid"] = "64 x 64 elements of C against sums in extended precision";
  record["rows"] = nlohmann::json::array();
  for (std::string const& type : wishes.types)
    for (std::int64_t const n : wishes.sizes)
      for (auto const data : {data_kind::uniform, data_kind::positive, data_kind::rows, data_kind::inner}) {
        bool const scaled = data == data_kind::rows || data == data_kind::inner;
        auto const rows =
            measure_accuracy({type.front(), n, data}, scaled ? scaling_contestants() : growth_contestants(wishes),
                             [&](std::string const& text) { status.show(text); });
        status.clear();
        print(rows);
        record["rows"].insert(record["rows"].end(), rows.begin(), rows.end());
      }
  if (!wishes.json_file.empty()) tools::write_output(wishes.json_file, record.dump(1) + '\n');
}

}  // namespace

void add_accuracy(CLI::App& bench) {
  auto* accuracy = bench.add_subcommand("accuracy", "errors beside the model's and the proved bound");
  auto wishes = std::make_shared<accuracy_options>();
  accuracy->add_option("--sizes", wishes->sizes, "of square matrices, at least 64")
      ->delimiter(',')
      ->check(tools::within<std::int64_t>(64, 1 << 16))
      ->capture_default_str();
  accuracy->add_option("--type", wishes->types, "d, s or both")
      ->delimiter(',')
      ->check(CLI::IsMember({"d", "s"}))
      ->capture_default_str();
  accuracy->add_option("--algorithms", wishes->algorithms, "names from `heptad info` (default: one of every shape)")
      ->delimiter(',');
  accuracy->add_option("--levels", wishes->levels, "at most")->check(tools::within(1, 6))->capture_default_str();
  accuracy->add_option("--json", wishes->json_file, "write the record to this file")->check(tools::file_name());
  accuracy->callback([wishes] { bench_accuracy(*wishes); });
}

}  // namespace heptad::bench
