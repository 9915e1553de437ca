// SPDX-License-Identifier: BSD-3-Clause
// The experiments of chapter 4 of Huang's dissertation (2018), one thread, double: a plan for every algorithm and
// variant that a figure names, all timed in turns on the same operands beside the classical product. Prints CSV.
#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <heptad/heptad.hpp>

#include "src/api/context.hpp"
#include "src/api/median.hpp"
#include "src/matrix/limits.hpp"
#include "src/plan/known_algorithms.hpp"
#include "src/plan/planner.hpp"
#include "tools/bench/measure.hpp"
#include "tools/bench/operands.hpp"
#include "tools/bench/record.hpp"

namespace {

using namespace heptad;
using bench::gemm_case;

/// ABC: sums in the packing, products added to C from registers; AB: gathered in a buffer first; naive: sums and
/// products in workspace, by passes that share sums.
enum class variant { abc, ab, naive };
constexpr variant all_variants[] = {variant::abc, variant::ab, variant::naive};
char const* name_of(variant v) { return v == variant::abc ? "ABC" : v == variant::ab ? "AB" : "naive"; }

struct contestant {
  std::string levels, kind;  // "2x2x2+2x3x2", outermost first; variant
  plan how;
};

// ⟨3,3,6⟩ and its rotations also with the 42 products that walks over −1, 0 and 1 come to.
std::vector<std::string> const rows_of_figure_4_2{
    "2x2x2", "2x3x2", "2x3x4", "2x4x3", "2x5x2", "3x2x2",     "3x2x3",     "3x2x4",    "3x3x2",
    "3x3x3", "3x3x6", "3x4x2", "3x4x3", "3x5x3", "3x6x3",     "4x2x2",     "4x2x3",    "4x2x4",
    "4x3x2", "4x3x3", "4x4x2", "5x2x2", "6x3x3", "sparse336", "sparse363", "sparse633"};
std::vector<std::string> const some_rows{"2x2x2", "2x3x2", "3x2x3", "3x3x3", "4x2x4", "3x6x3"};

problem problem_of(gemm_case const& what) {
  problem shape;
  shape.m = what.m, shape.n = what.n, shape.k = what.k;
  shape.beta_zero = what.beta == 0;
  return shape;
}

class experiment {
public:
  experiment(std::string figure, int rounds) : figure_(std::move(figure)), rounds_(rounds) {}

  static void print_header() {
    fmt::print("figure,m,n,k,levels,variant,predicted_seconds,seconds,gflops,speedup_percent\n");
  }

  /// Every list of levels in every variant, the classical product, and what the planner chooses.
  void run(gemm_case const& what, std::vector<std::vector<std::string>> const& lists,
           std::vector<variant> const& variants, bool chosen = false) {
    std::vector<contestant> all{{"classical", "", classical(what)}};
    for (auto const& list : lists)
      for (variant const v : variants)
        if (auto how = plan_of(what, list, v))
          all.push_back({fmt::format("{}", fmt::join(list, "+")), name_of(v), *how});
    if (chosen) all.push_back({"chosen", "", make_plan<double>(workers_, problem_of(what))});
    measure(what, all);
  }

private:
  plan classical(gemm_case const& what) {
    options wishes;
    wishes.max_levels = 0;
    return make_plan<double>(workers_, problem_of(what), wishes);
  }

  /// Nothing where the packing cannot form so many sums.
  std::optional<plan> plan_of(gemm_case const& what, std::vector<std::string> const& list, variant v) {
    plan p = classical(what);
    int terms[3] = {1, 1, 1};
    for (std::string const& name : list) {
      auto const coefficients = find_algorithm(name);
      if (coefficients == nullptr) throw CLI::ValidationError(name + " is no known algorithm");
      p.levels.push_back(
          {coefficients->name, v == variant::naive ? level_kind::explicit_passes : level_kind::fused, coefficients});
      level_traffic const& t = know(coefficients).traffic;
      terms[0] *= t.widest_A, terms[1] *= t.widest_B, terms[2] *= t.widest_C;
    }
    if (v != variant::naive && *std::ranges::max_element(terms) > most_terms) return std::nullopt;
    p.product_buffer = v == variant::ab;
    complete_plan(p, workers_.state().machine());
    return p;
  }

  void measure(gemm_case const& what, std::vector<contestant> const& all) {
    bench::operands<double> on(what);
    on.reset_c();
    auto const seconds_of = [&](plan const& p) {
      return gemm<double>(workers_, p, 1, column_major<double const>(on.A.data(), what.m, what.k, what.m),
                          column_major<double const>(on.B.data(), what.k, what.n, what.k), what.beta,
                          column_major<double>(on.C.data(), what.m, what.n, what.m))
          .seconds;
    };
    std::vector<std::vector<double>> seconds(all.size());
    for (int round = -1; round < rounds_; ++round)
      for (std::size_t i = 0; i < all.size(); ++i) {
        double const took = seconds_of(all[i].how);
        if (round >= 0) seconds[i].push_back(took);  // the first call makes graphs and takes memory
      }
    double const classical = median(seconds.front());
    for (std::size_t i = 0; i < all.size(); ++i) {
      double const took = median(seconds[i]);
      fmt::print("{},{},{},{},{},{},{:.5f},{:.5f},{:.2f},{:.1f}\n", figure_, what.m, what.n, what.k, all[i].levels,
                 all[i].kind, all[i].how.seconds, took, what.flops() / took / 1e9, 100 * (classical / took - 1));
    }
    std::fflush(stdout);
  }

  std::string figure_;
  int rounds_;
  context workers_{1};
};

std::vector<std::vector<std::string>> each_alone(std::vector<std::string> const& names) {
  std::vector<std::vector<std::string>> lists;
  for (std::string const& name : names) lists.push_back({name});
  return lists;
}

std::vector<std::vector<std::string>> each_twice(std::vector<std::string> const& names) {
  std::vector<std::vector<std::string>> lists;
  for (std::string const& name : names) lists.push_back({name, name});
  return lists;
}

gemm_case square(std::int64_t n, std::int64_t k) { return {'d', n, n, k, 1, 1.0}; }

/// n: m = n of the rank-k updates, 14400 in print.
void run(std::string const& figure, std::int64_t n, int rounds) {
  experiment it(figure, rounds);
  std::vector<variant> const every(std::begin(all_variants), std::end(all_variants));
  if (figure == "4.2-rank-k") it.run(square(n, 480), each_alone(rows_of_figure_4_2), every);
  if (figure == "4.2-square") it.run(square(n, n / 6 * 5), each_alone(rows_of_figure_4_2), every);
  if (figure == "4.8")
    for (std::int64_t k = n / 10; k <= n; k *= 2) it.run(square(n, k), each_alone(some_rows), every);
  if (figure == "4.9") {  // and 4.10
    auto lists = each_alone(some_rows);
    auto const twice = each_twice({"2x2x2", "2x3x2", "3x2x3", "3x3x3"});
    lists.insert(lists.end(), twice.begin(), twice.end());
    for (std::int64_t const side : {n / 4, n / 2, n}) it.run(square(side, side), lists, {variant::abc}, true);
    for (std::int64_t const k : {n / 10, n / 5, n / 2}) it.run(square(n, k), lists, {variant::abc}, true);
    for (std::int64_t const side : {n / 4, n / 2, n}) it.run(square(side, 1024), lists, {variant::abc}, true);
  }
  if (figure == "4.11") {
    auto lists = each_alone({"2x2x2", "2x3x2", "3x3x3"});
    for (char const* outer : {"2x2x2", "2x3x2", "3x3x3"})
      for (char const* inner : {"2x2x2", "2x3x2", "3x3x3"}) lists.push_back({outer, inner});
    for (std::int64_t const part : {4, 3, 2, 1}) it.run(square(n / part, 1200), lists, {variant::abc});
  }
}

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app("The experiments of Huang's dissertation, chapter 4, as CSV");
  std::string figure;
  std::int64_t n = 3600;
  int rounds = 3;
  app.add_option("figure", figure)
      ->required()
      ->check(CLI::IsMember({"4.2-rank-k", "4.2-square", "4.8", "4.9", "4.11"}));
  app.add_option("--size", n, "m = n of the largest case; 14400 in print")->check(CLI::Range(480, 1 << 16));
  app.add_option("--rounds", rounds, "timed calls of every plan")->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  fmt::print("# {}\n", bench::record_origin("seeds").dump());
  experiment::print_header();
  run(figure, n, rounds);
  return 0;
} catch (std::exception const& e) {
  fmt::print(stderr, "{}\n", e.what());
  return 1;
}
