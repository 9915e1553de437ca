// SPDX-License-Identifier: BSD-3-Clause
// heptad search M K N: finds algorithms <M,K,N;R> and writes the best one as a file.
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include <heptad/heptad.hpp>

#include "src/api/context.hpp"
#include "src/plan/counted.hpp"
#include "src/plan/planner.hpp"
#include "src/search/join.hpp"
#include "src/search/search.hpp"
#include "tools/algorithm_json.hpp"
#include "tools/bounds.hpp"
#include "tools/commands.hpp"
#include "tools/output_file.hpp"
#include "tools/print_json.hpp"

namespace heptad::tools {
namespace {

using search::objective;

std::map<std::string, objective> const objectives{{"rank", objective::rank},
                                                  {"additions", objective::additions},
                                                  {"stability", objective::stability},
                                                  {"predicted-time", objective::predicted_time}};

std::map<std::string, search::method> const methods{{"flips", search::method::flips},
                                                    {"sparse-flips", search::method::sparse_flips},
                                                    {"least-squares", search::method::least_squares}};

struct search_arguments {
  search::settings how;
  int rank = 0;
  std::string objective = "rank", method = "flips";
  std::array<std::int64_t, 3> problem{4096, 4096, 4096};  // m, n, k
  std::string name, output, from, state;
  bool json = false;
};

std::string describe(algorithm const& x) {
  return fmt::format("<{},{},{};{}>, {} nonzeros, {} additions, stability {:g}", x.m, x.k, x.n, x.rank(), nonzeros(x),
                     all_additions(x), stability_factor(x));
}

/// Of least squares.
std::string starts(search::knowledge const& known) {
  std::string text = counted(known.walks, "start");
  if (known.inexact > 0) text += fmt::format(", {} solved but not with fractions", known.inexact);
  return text;
}

std::string describe(search::progress const& now, search::method by) {
  search::knowledge const& known = now.so_far;
  double const rate = static_cast<double>(now.moves_now) / now.seconds;
  std::string text = by == search::method::least_squares
                         ? fmt::format("{:.0f} s: {:.0f} steps a second, {}", now.seconds, rate, starts(known))
                         : fmt::format("{:.0f} s: rank {} over GF(2), {:.1f} million moves a second, {} walks",
                                       now.seconds, known.lowest.rank(), rate / 1e6, known.walks);
  if (known.best) text += "; best " + describe(*known.best);
  return text;
}

/// A terminal keeps one line; a log gets a new one.
void show(std::string const& text, bool last) {
  bool const terminal = isatty(STDERR_FILENO) != 0;
  fmt::print(stderr, "{}{:<110}{}", terminal ? "\r" : "", text, terminal && !last ? "" : "\n");
  std::fflush(stderr);
}

algorithm find(std::string const& name) {
  auto const x = find_algorithm(name);
  if (!x) throw CLI::ValidationError(fmt::format("--from {}: there is no such algorithm", name));
  return *x;
}

/// An algorithm, perhaps a smaller one, or two of them joined by a "+".
algorithm start_of(std::string const& from, search::shape const& what) {
  auto const plus = from.find('+');
  if (plus == std::string::npos || std::filesystem::exists(from)) return search::extend(find(from), what);
  return search::join(find(from.substr(0, plus)), find(from.substr(plus + 1)), what);
}

/// From the state of an earlier search, or from an algorithm.
std::optional<search::knowledge> read_start(search_arguments const& given) {
  if (given.state.empty() || !std::filesystem::exists(given.state)) {
    if (given.from.empty()) return std::nullopt;
    std::optional<search::knowledge> known;
    check_usage([&] {
      algorithm start = start_of(given.from, given.how.what);
      start.name = given.from;
      known = search::knowledge_of(start);
    });
    return known;
  }
  require_writable(given.state);  // what is a folder, say, cannot be read either
  std::ifstream file(given.state, std::ios::binary);
  std::string const text{std::istreambuf_iterator<char>(file), {}};
  try {
    return search::from_text(text, given.how.what);
  } catch (error const& e) {
    throw error(e.code(), fmt::format("--resume {}: {}", given.state, e.what()));
  }
}

/// As one word of a shell.
std::string as_word(std::string const& text) {
  constexpr char const* plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-./:=@_";
  if (text.find_first_not_of(plain) == std::string::npos) return text;
  std::string word = "'";
  for (char const c : text) word += c == '\'' ? "'\\''" : std::string(1, c);
  return word + "'";
}

/// How to find it again.
std::string provenance(search_arguments const& given, search::knowledge const& known) {
  search::shape const& s = given.how.what;
  std::string text = fmt::format("heptad search {} {} {}", s.m, s.k, s.n);
  if (given.rank > 0) text += fmt::format(" --rank {}", given.rank);
  if (given.method != "flips") text += fmt::format(" --method {}", given.method);
  if (given.how.symmetry > 1) text += fmt::format(" --symmetry {}", given.how.symmetry);
  text += fmt::format(" --objective {}", given.objective);
  if (given.how.aim == search::objective::predicted_time)
    text += fmt::format(" --problem {}", fmt::join(given.problem, ","));
  text += fmt::format(" --seed {} --seconds {}", given.how.seed, given.how.seconds);
  if (given.how.most_moves > 0) text += fmt::format(" --moves {}", given.how.most_moves);
  if (!given.from.empty()) text += fmt::format(" --from {}", as_word(given.from));
  if (given.how.threads > 1) text += fmt::format(" --threads {}", given.how.threads);
  if (!given.name.empty()) text += fmt::format(" --name {}", as_word(given.name));
  std::time_t const now = std::time(nullptr);
  std::string const found = given.how.by == search::method::least_squares ? "least squares, made exact"
                            : given.how.aim == search::objective::rank    ? "flip graph over GF(2), lifted"
                                                                          : "flip graph over GF(2), lifted, annealed";
  return fmt::format("{} (run {}, {} moves), Heptad {}, {:%Y-%m-%d}: {}", text, known.runs, known.moves, version(),
                     fmt::gmtime(now), found);
}

/// Of one level of the algorithm, of the kind that suits it, in the planner's model of this machine.
double predicted_seconds(algorithm const& x, problem const& shape) {
  context& here = default_context();
  double least = std::numeric_limits<double>::infinity();
  for (level_kind const kind : {level_kind::explicit_passes, level_kind::fused})
    for (bool const product_buffer : {false, true}) {
      plan p;
      p.shape = shape;
      p.levels.push_back({x.name, kind, std::make_shared<algorithm const>(x)});
      p.product_buffer = product_buffer;
      p.workers = here.threads();
      p.strips = p.workers;
      complete_plan(p, here.state().machine());
      least = std::min(least, p.seconds);
    }
  return least;
}

/// Writes the best algorithm, checked once more, or fails where the rank was not reached.
void finish(search_arguments const& given, search::knowledge const& known) {
  search::shape const& s = given.how.what;
  bool const reached = known.best && (given.rank == 0 || known.best->rank() <= given.rank);
  if (known.best) {
    algorithm best = *known.best;
    best.name = given.name.empty() ? fmt::format("found{}{}{}", s.m, s.k, s.n) : given.name;
    best.source = provenance(given, known);
    verify(best);
    std::string const text = "# SPDX-License-Identifier: BSD-3-Clause\n" + to_text(best);
    if (!given.output.empty()) write_output(given.output, text);
    if (given.json) {
      nlohmann::json found = describe_algorithm(best);
      found.update({{"moves", known.moves}, {"walks", known.walks}, {"text", text}});
      print_json(found);
    } else if (given.output.empty()) {
      fmt::print("{}", text);
    } else {
      fmt::print("{}: {}\n", given.output, describe(best));
    }
  }
  if (reached) return;
  if (given.how.by == search::method::least_squares)
    throw std::runtime_error(fmt::format("rank {} was not reached: {}", given.rank, starts(known)));
  if (given.rank == 0)
    throw std::runtime_error(fmt::format("nothing over the numbers was found in time; the lowest rank over GF(2) is {}",
                                         known.lowest.rank()));
  throw std::runtime_error(
      fmt::format("rank {} was not reached: the lowest is {} over GF(2), and {}", given.rank, known.lowest.rank(),
                  known.best ? fmt::format("{} over the numbers", known.best->rank()) : "nothing over the numbers"));
}

void run(search_arguments given) {
  if (given.rank > 0) given.how.rank = given.rank;
  given.how.aim = objectives.at(given.objective);
  given.how.by = methods.at(given.method);
  problem shape;
  shape.m = given.problem[0], shape.n = given.problem[1], shape.k = given.problem[2];
  given.how.predicted_seconds = [shape](algorithm const& x) { return predicted_seconds(x, shape); };
  check_usage([&given] { search::check(given.how); });
  auto start = read_start(given);
  for (std::string const& path : {given.output, given.state}) require_writable(path);

  double saved = 0;
  constexpr double seconds_a_save = 10;
  search::knowledge const known = search::run(
      given.how,
      [&](search::progress const& now) {
        show(describe(now, given.how.by), false);
        if (given.state.empty() || now.seconds < saved + seconds_a_save) return;
        saved = now.seconds;
        write_output(given.state, search::to_text(now.so_far));
      },
      std::move(start));
  if (!given.state.empty()) write_output(given.state, search::to_text(known));
  finish(given, known);
}

}  // namespace

void add_search_command(CLI::App& app) {
  auto const given = std::make_shared<search_arguments>();
  auto* const command = app.add_subcommand("search", "Find algorithms <M,K,N;R> of one's own");
  search::settings& how = given->how;
  command->add_option("M", how.what.m, "A is M x K blocks")->required()->check(within(1, 16));
  command->add_option("K", how.what.k, "B is K x N blocks")->required()->check(within(1, 16));
  command->add_option("N", how.what.n, "C is M x N blocks; no operand may have more than 64")
      ->required()
      ->check(within(1, 16));
  command->add_option("--rank", given->rank, "products to reach; else as few as half of the time allows")
      ->check(at_least(1));
  command->add_option("--seconds", how.seconds, "at most; least squares end a factorization that is begun")
      ->check(above_zero())
      ->capture_default_str();
  command
      ->add_option("--moves", how.most_moves, "of each thread, at most; with one thread a run can be repeated exactly")
      ->check(at_least(std::int64_t{1}));
  command->add_option("--seed", how.seed, "of the random numbers")
      ->check(at_least(std::uint64_t{0}))
      ->capture_default_str();
  command->add_option("--objective", given->objective, "rank, additions, stability or predicted-time")
      ->check(CLI::IsMember(objectives))
      ->capture_default_str();
  command
      ->add_option("--method", given->method,
                   "flips, sparse-flips (for ranks above 30), or least-squares (needs --rank)")
      ->check(CLI::IsMember(methods))
      ->capture_default_str();
  command
      ->add_option("--symmetry", how.symmetry,
                   "with least-squares: the order of a rotation of rows and columns that is to permute the terms")
      ->check(within(1, 16))
      ->capture_default_str();
  command->add_option("--problem", given->problem, "m,n,k of the product that predicted-time is for")
      ->delimiter(',')
      ->check(within(std::int64_t{1}, std::int64_t{1} << 27))  // so that a matrix can be addressed
      ->capture_default_str();
  command->add_option("--threads", how.threads, "walks side by side")->check(within(1, 1024))->capture_default_str();
  command->add_option("--resume", given->state, "go on from this file where it exists; what is known is kept there")
      ->check(file_name());
  command->add_option(
      "--from", given->from,
      "start from this algorithm: name, shape or file; from a smaller one, the rest being classical; or "
      "from two side by side: sparse332+sparse332");
  command->add_option("--name", given->name, "of the algorithm (default: found, and the sides)")
      ->check([](std::string const& name) {
        return is_one_word(name) ? std::string() : fmt::format("'{}' must be one word", name);
      });
  command->add_option("-o,--output", given->output, "file for the best algorithm; else it is printed")
      ->check(file_name());
  command->add_flag("--json", given->json, "print JSON");
  command->callback([given] { run(*given); });
}

}  // namespace heptad::tools
