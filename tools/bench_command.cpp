// SPDX-License-Identifier: BSD-3-Clause
// `heptad bench gemm`: Heptad and every BLAS that can be loaded, side by side. Each library lives in a process of its
// own (`heptad bench-worker`, not for people); this one only says whose turn it is, and keeps the record.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string_view>

#include "src/plan/counted.hpp"
#include "src/plan/profile.hpp"
#include "tools/bench/peers.hpp"
#include "tools/bench/planner_quality.hpp"
#include "tools/bench/record.hpp"
#include "tools/bench/table.hpp"
#include "tools/bench/worker.hpp"
#include "tools/bounds.hpp"
#include "tools/commands.hpp"
#include "tools/output_file.hpp"
#include "tools/settings.hpp"

namespace heptad::bench {

void add_accuracy(CLI::App& bench);  // tools/bench_accuracy.cpp

namespace {

struct bench_options {
  std::vector<std::string> sizes, shapes;
  std::vector<std::string> types{"d"};
  std::vector<int> threads{1};
  std::vector<std::string> transposes{"nn"};
  std::vector<std::string> peers{"auto"};
  std::string json_file;
  double beta = 0;
  bool cold = false;
  effort how;
  own_options own;
};

std::vector<gemm_case> cases_of(bench_options const& wishes) {
  std::vector<std::string> shapes = wishes.sizes;
  shapes.insert(shapes.end(), wishes.shapes.begin(), wishes.shapes.end());
  if (shapes.empty()) shapes = {"512", "1024", "2048", "4096"};
  double const cache = wishes.cold ? static_cast<double>(default_profile().l3_bytes) : 0;
  std::vector<gemm_case> cases;
  for (std::string const& type : wishes.types)
    for (int const threads : wishes.threads)
      for (std::string const& text : shapes)
        for (std::string const& transposes : wishes.transposes) {
          gemm_case what = parse_shape(text);
          what.type = type.front();
          what.threads = threads;
          what.beta = wishes.beta;
          what.transposes = transposes;
          // So many that each has left the last-level cache when its turn comes again.
          what.operand_sets = 1 + static_cast<std::size_t>(2 * cache / what.operand_bytes());
          cases.push_back(what);
        }
  return cases;
}

/// As parse_shape() reads it.
std::string misspelt(std::string const& shape) {
  try {
    static_cast<void>(parse_shape(shape));
    return {};
  } catch (std::invalid_argument const& wrong) {
    return wrong.what();
  }
}

void check_peers(std::vector<std::string> const& peers) {
  for (std::string const& text : peers) {
    bool const of_all = text == "auto" || text == "none";
    std::string const name = text.substr(0, text.find('='));
    if (of_all && peers.size() > 1) throw CLI::ValidationError("--peers", fmt::format("'{}' must stand alone", text));
    if (!of_all && std::ranges::find(peer_names, name) == peer_names.end())
      throw CLI::ValidationError("--peers", fmt::format("'{}' must be auto, none, mkl, openblas or blis", text));
  }
}

// Every worker holds its operands and may add workspace of up to twice their size; half of that is a fair guess for
// all.
bool fits(gemm_case const& what, std::size_t workers) {
  return what.operand_bytes() * static_cast<double>(workers + 1) < static_cast<double>(available_memory());
}

void require_cases(nlohmann::json const& record) {
  if (record.at("cases").empty()) throw std::runtime_error("no case was measured");
}

void save(nlohmann::json const& record, std::string const& file) { tools::write_output(file, record.dump(1) + '\n'); }

// True when every result was right. Every case has fresh workers: none inherits memory or a crash from the last one.
bool measure_cases(bench_options const& wishes, std::vector<contestant> const& who, nlohmann::json& record,
                   status_line& status, table const& rows) {
  bool all_valid = true;
  for (gemm_case const& what : cases_of(wishes)) {
    auto const label = fmt::format("{}gemm {} on {}", what.type, what.shape(), counted(what.threads, "thread"));
    if (!fits(what, who.size())) {
      status.note(fmt::format("{} is left out: its matrices, once for each library, do not fit into memory", label));
      continue;
    }
    std::vector<worker_process> workers;
    for (contestant const& one : who) workers.emplace_back(one, what.threads);
    auto const results =
        measure(what, workers, wishes.how, [&](std::string const& text) { status.show(label + ": " + text); });
    status.clear();
    rows.print_row(what, results);
    record["cases"].push_back(record_case(what, results));
    if (!wishes.json_file.empty()) save(record, wishes.json_file);  // after every case: a long run may be cut short
    for (measured const& one : results) all_valid = all_valid && one.valid();
  }
  return all_valid;
}

void bench_gemm(bench_options const& wishes) {
  check_peers(wishes.peers);
  tools::check_wishes({.algorithm = wishes.own.algorithm});
  tools::require_writable(wishes.json_file);
  status_line status;
  auto const peers = find_peers(wishes.peers, [&](std::string const& text) { status.note(text); });

  std::vector<contestant> who{{.name = "heptad", .path = "", .settings = {}, .own = wishes.own}};
  std::vector<std::string> names{"heptad"};
  for (found_peer const& peer : peers) {
    who.push_back(peer.who);
    names.push_back(peer.info.name);
    status.note(fmt::format("{}: {}, kernels: {}", peer.info.name, peer.info.version, peer.info.core));
  }
  library_info const own = worker_process(who.front(), 1).info();
  nlohmann::json record = record_header(own, peers, wishes.how, wishes.beta, wishes.own);

  table const rows(names);
  rows.print_header();
  bool const all_valid = measure_cases(wishes, who, record, status, rows);
  require_cases(record);
  if (!all_valid) throw std::runtime_error("a library failed or gave a wrong result");
  if (!wishes.json_file.empty()) status.note(fmt::format("written: {}", wishes.json_file));
}

void add_gemm(CLI::App& bench) {
  auto* gemm = bench.add_subcommand("gemm", "C := op(A) op(B) + beta C against every BLAS that can be loaded");
  auto wishes = std::make_shared<bench_options>();
  gemm->add_option("--sizes", wishes->sizes, "square sizes, as 512,1024 (default 512,1024,2048,4096)")
      ->delimiter(',')
      ->check(misspelt);
  gemm->add_option("--shapes", wishes->shapes, "MxNxK, as 8192x8192x1024,4095x4095x4095")
      ->delimiter(',')
      ->check(misspelt);
  gemm->add_option("--type", wishes->types, "d, s or both")
      ->delimiter(',')
      ->check(CLI::IsMember({"d", "s"}))
      ->capture_default_str();
  gemm->add_option("--threads", wishes->threads, "thread counts, as 1,2")
      ->delimiter(',')
      ->check(tools::within(1, most_threads))
      ->capture_default_str();
  gemm->add_option("--trans", wishes->transposes, "what is transposed: nn, nt (B), tn (A), tt")
      ->delimiter(',')
      ->check(CLI::IsMember({"nn", "nt", "tn", "tt"}))
      ->capture_default_str();
  gemm->add_option("--reps", wishes->how.rounds, "turns of each library, at least")
      ->check(tools::at_least(1))
      ->capture_default_str();
  gemm->add_option("--min-seconds", wishes->how.min_seconds, "seconds of each library and case, at least")
      ->check(tools::at_least(0.0))
      ->capture_default_str();
  gemm->add_option("--peers", wishes->peers, "auto, none, or mkl,openblas,blis, each optionally =path")
      ->delimiter(',')
      ->capture_default_str();
  gemm->add_flag("--cold", wishes->cold, "operands come from memory: calls take turns in more than the caches hold");
  gemm->add_option("--beta", wishes->beta, "C := A B + beta C")->check(tools::finite_number())->capture_default_str();
  gemm->add_option("--max-levels", wishes->own.max_levels, "Heptad's levels, at most (-1: as many as pay)")
      ->check(tools::at_least(-1))
      ->capture_default_str();
  gemm->add_option("--max-workspace", wishes->own.max_workspace,
                   "Heptad's workspace, at most: bytes, or with a suffix k, m, g")
      ->transform(tools::bytes());
  gemm->add_option("--algorithm", wishes->own.algorithm, "Heptad's algorithm: name, shape, composition or file")
      ->capture_default_str();
  gemm->add_option("--json", wishes->json_file, "write the record to this file (see bench/README.md)")
      ->check(tools::file_name());
  gemm->callback([wishes] { bench_gemm(*wishes); });
}

struct planner_options {
  std::string json_file;
  quality_effort how;
  std::size_t every = 1;
  bool again = false;
};

void print_summary(nlohmann::json const& summary) {
  auto const row = [&](char const* field, char const* words) {
    auto const& x = summary.at(field);
    fmt::print("{:<44}{:8.1f} % {:8.1f} % {:8.1f} %\n", words, 100 * x.at("median").get<double>(),
               100 * x.at("p90").get<double>(), 100 * x.at("most").get<double>());
  };
  fmt::print("{:<44}{:>10} {:>10} {:>10}\n", counted(summary.at("cases").get<int>(), "case"), "median", "90 %", "most");
  row("chosen_behind_best", "chosen plan behind the best measured one");
  row("chosen_behind_least_time", "chosen plan behind the least time measured");
  row("cheapest_predicted_behind_best", "cheapest predicted behind the least time");
  row("prediction_error_of_chosen", "predicted time of the chosen plan off");
  if (summary.contains("prediction_error_at_speed"))
    row("prediction_error_at_speed", "the same at the machine's speed meanwhile");
  row("prediction_error_of_all", "predicted time of all plans off");
  fmt::print("chosen within 5 % of the best: {:.1f} % of the cases, of the least time: {:.1f} %\n",
             100 * summary.at("chosen_within_5_percent").get<double>(),
             100 * summary.at("chosen_within_5_percent_of_least_time").get<double>());
}

// The one that --json names; null where there is none yet.
nlohmann::json read_record(planner_options const& wishes) {
  auto const refuse = [&wishes](std::string_view rule) {
    throw std::runtime_error(fmt::format("--json {} {}", wishes.json_file, rule));
  };
  std::ifstream file(wishes.json_file);
  if (!file && wishes.again) refuse("cannot be read, and --again measures nothing");
  if (!file) return nullptr;
  auto record = nlohmann::json::parse(file, nullptr, false);
  if (record.is_discarded()) refuse("is not JSON");
  try {
    if (wishes.again) predict_again(record);
    static_cast<void>(summarize(record));
    for (nlohmann::json const& one : record.at("cases")) static_cast<void>(case_of(one));
  } catch (nlohmann::json::exception const&) {
    refuse("must be a record of `heptad bench planner`");
  }
  return record;
}

// Resumes a record that is there: cases that it has are not measured again.
void bench_planner(planner_options const& wishes) {
  auto const begin = std::chrono::steady_clock::now();
  if (!wishes.again) tools::require_writable(wishes.json_file);
  nlohmann::json record = read_record(wishes);
  if (wishes.again) return print_summary(summarize(record));
  if (record.is_null()) {
    library_info const own = worker_process({.name = "heptad", .path = "", .settings = {}, .own = {}}, 1).info();
    record = record_header(own, {}, {}, 0, {});
    record["cases"] = nlohmann::json::array();
  }
  status_line status;
  auto const grid = planner_grid();
  std::size_t done = 0;
  for (gemm_case const& what : grid) {
    ++done;
    if ((done - 1) % wishes.every != 0) continue;
    nlohmann::json const name = what;
    auto const same = [&](nlohmann::json const& one) { return nlohmann::json(case_of(one)) == name; };
    if (std::any_of(record["cases"].begin(), record["cases"].end(), same)) continue;
    if (std::chrono::steady_clock::now() - begin > std::chrono::duration<double>(wishes.how.total_seconds)) break;
    status.show(fmt::format("{} of {}: {}gemm {} on {}", done, grid.size(), what.type, what.shape(), what.threads));
    record["cases"].push_back(measure_plans(what, wishes.how));
    record["summary"] = summarize(record);
    if (!wishes.json_file.empty()) save(record, wishes.json_file);
  }
  status.clear();
  require_cases(record);
  print_summary(summarize(record));
}

void add_planner(CLI::App& bench) {
  auto* planner = bench.add_subcommand("planner", "chosen plans against others, predicted times against measured");
  auto wishes = std::make_shared<planner_options>();
  planner->add_option("--json", wishes->json_file, "the record; a run goes on where it ends")
      ->required()
      ->check(tools::file_name());
  planner->add_option("--plans", wishes->how.plans, "measured for each case")
      ->check(tools::at_least(std::size_t{1}))
      ->capture_default_str();
  planner->add_option("--plan-seconds", wishes->how.plan_seconds, "for each plan, about")
      ->check(tools::above_zero())
      ->capture_default_str();
  planner->add_option("--seconds", wishes->how.total_seconds, "begin no case after so long")
      ->check(tools::above_zero());
  planner->add_option("--every", wishes->every, "measure only every so many-th case of the grid")
      ->check(tools::at_least(std::size_t{1}))
      ->capture_default_str();
  planner->add_flag("--again", wishes->again, "measure nothing: the record with what is predicted now");
  planner->callback([wishes] { bench_planner(*wishes); });
}

void add_worker(CLI::App& app) {
  auto* worker = app.add_subcommand("bench-worker", "one library, driven by `heptad bench`")->group("");
  auto wishes = std::make_shared<worker_options>();
  auto own = std::make_shared<std::string>("{}");
  worker->add_option("--library", wishes->library)->required();
  worker->add_option("--path", wishes->path);
  worker->add_option("--threads", wishes->threads)->required();
  worker->add_option("--channel", wishes->channel)->required();
  worker->add_option("--own", *own);
  worker->callback([wishes, own] {
    if (wishes->library == "heptad") wishes->own = nlohmann::json::parse(*own).get<own_options>();
    serve(*wishes);
  });
}

}  // namespace
}  // namespace heptad::bench

void heptad::tools::add_bench_command(CLI::App& app) {
  auto* bench = app.add_subcommand("bench", "measure side by side with other libraries")->require_subcommand(1);
  heptad::bench::add_gemm(*bench);
  heptad::bench::add_accuracy(*bench);
  heptad::bench::add_planner(*bench);
  heptad::bench::add_worker(app);
}
