// SPDX-License-Identifier: BSD-3-Clause
// What the commands have in common.
#include "tools/settings.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include <heptad/heptad.h>

#include "src/api/arguments.hpp"
#include "src/api/environment.hpp"
#include "src/plan/counted.hpp"
#include "src/plan/plan_json.hpp"
#include "tools/bounds.hpp"
#include "tools/commands.hpp"

namespace heptad::tools {
namespace {

/// One of these words, which help and errors list without the values that they stand for.
template <typename Value>
CLI::Option* named(CLI::Option* option, std::vector<std::pair<std::string, Value>> const& values) {
  std::vector<std::string> words;
  for (auto const& [word, value] : values) words.push_back(word);
  // Of two that are given, CLI11 asks the later one first.
  return option->transform(CLI::Transformer(values).description(""))->transform(CLI::IsMember(words));
}

}  // namespace

CLI::Validator bytes() {
  auto const transform = [](std::string& text) {
    auto const value = parse_bytes(text);
    if (!value) return fmt::format("'{}' must be {}, below 2^64 in all", text, bytes_rule);
    text = std::to_string(*value);
    return std::string();
  };
  return {transform, "bytes"};
}

void settings::add_to(CLI::App& command) {
  command.add_option("--threads", threads, "workers; 0: all cores that may be used")->check(within(0, most_threads));
  command.add_option("--max-error", wishes.max_error, "largest growth of the error over the classical product")
      ->check(at_least(1.0));
  command.add_flag("--guaranteed", wishes.guaranteed, "apply --max-error to the proved bound");
  command.add_option("--max-levels", wishes.max_levels, "at most so many levels")->check(at_least(0));
  command.add_option("--max-workspace", wishes.max_workspace, "bytes, or with a suffix k, m, g")->transform(bytes());
  command.add_option("--algorithm", wishes.algorithm,
                     "auto, or a name, shape, composition or file (see algorithms/README.md)");
  command.add_flag("--deterministic", wishes.deterministic, "the same bits for any number of workers");
  named<scheduler_kind>(
      command.add_option("--scheduler", wishes.scheduler, "tbb, sequential or starpu"),
      {{"tbb", scheduler_kind::tbb}, {"sequential", scheduler_kind::sequential}, {"starpu", scheduler_kind::starpu}})
      ->default_str("tbb");
  command.add_option("--kernel", wishes.kernel, "a kernel set from `heptad info`, or auto");
  std::vector<std::pair<std::string, scaling_kind>> scalings;
  for (auto const kind :
       {scaling_kind::none, scaling_kind::outside, scaling_kind::inside, scaling_kind::both, scaling_kind::automatic})
    scalings.emplace_back(scaling_name(kind), kind);
  named(command.add_option("--scaling", wishes.scaling, "of A and B before levels"), scalings)
      ->default_str("automatic");
  command.add_flag("--refine", wishes.refine, "measure the two best plans in the first calls, and keep the faster");
  command.add_flag("--json", json, "print JSON");
}

void settings::apply() const {
  check_wishes(wishes);
  (void)default_context();  // finds the scheduler that the environment asks for
  if (threads && heptad_set_num_threads(*threads) != HEPTAD_SUCCESS) {
    throw error(status::invalid_argument, heptad_last_error());
  }
}

char const* scaling_name(scaling_kind kind) {
  switch (kind) {
    case scaling_kind::none:
      return "none";
    case scaling_kind::outside:
      return "outside";
    case scaling_kind::inside:
      return "inside";
    case scaling_kind::both:
      return "both";
    case scaling_kind::automatic:
      return "automatic";
  }
  return "";
}

std::string to_text(report const& r) {
  std::string text = explain(r.plan);
  auto const line = [&text](char const* label, std::string const& value) {
    text += fmt::format("{:<12}{}\n", label, value);
  };
  line("actual", fmt::format("{:.6f} s, {:.1f} GFLOP/s, {} tasks, {:.1f} MiB of workspace{}", r.seconds, r.gflops,
                             r.tasks, static_cast<double>(r.workspace) / (1 << 20),
                             r.fell_back ? " (fell back: no memory for more)" : ""));
  if (!r.busy_seconds.empty()) {
    line("busy",
         fmt::format("{:.6f} s by worker, {:.1f} % idle", fmt::join(r.busy_seconds, " "), 100 * r.idle_fraction));
  }
  if (!r.precaution.empty()) line("precaution", r.precaution + ": the levels planned were not run");
  if (r.scaling != scaling_kind::none) line("scaling", scaling_name(r.scaling));
  if (r.check) {
    line("check", fmt::format("error about {:.3e} by {}, limit {:.3e}: {}", r.check->observed,
                              counted(r.check->vectors, "random vector"), r.check->limit,
                              r.check->passed ? "passed" : "FAILED"));
  }
  return text;
}

nlohmann::json to_json(report const& r) {
  nlohmann::json out = {{"plan", plan_to_json(r.plan)},
                        {"seconds", r.seconds},
                        {"gflops", r.gflops},
                        {"workspace", r.workspace},
                        {"tasks", r.tasks},
                        {"busy_seconds", r.busy_seconds},
                        {"idle_fraction", r.idle_fraction},
                        {"fell_back", r.fell_back},
                        {"precaution", r.precaution},
                        {"precaution_seconds", r.precaution_seconds},
                        {"scaling", scaling_name(r.scaling)}};
  if (r.check) {
    out["sampled_check"] = {{"vectors", r.check->vectors},
                            {"observed", r.check->observed},
                            {"limit", r.check->limit},
                            {"passed", r.check->passed}};
  }
  return out;
}

}  // namespace heptad::tools
