// SPDX-License-Identifier: BSD-3-Clause
// What the commands have in common.
#include "tools/settings.hpp"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include <heptad/heptad.h>

#include "src/plan/plan_json.hpp"

namespace heptad::tools {

void settings::add_to(CLI::App& command) {
  std::map<std::string, scheduler_kind> const schedulers{
      {"tbb", scheduler_kind::tbb}, {"sequential", scheduler_kind::sequential}, {"starpu", scheduler_kind::starpu}};
  command.add_option("--threads", threads, "workers; 0: all cores that may be used")->check(CLI::NonNegativeNumber);
  command.add_option("--max-error", wishes.max_error, "largest growth of the error over the classical product")
      ->check(CLI::Range(1.0, 1e300));
  command.add_flag("--guaranteed", wishes.guaranteed, "apply --max-error to the proved bound");
  command.add_option("--max-levels", wishes.max_levels, "at most so many levels")->check(CLI::NonNegativeNumber);
  command.add_option("--max-workspace", wishes.max_workspace, "bytes, or with a suffix k, m, g")
      ->transform(CLI::AsSizeValue(false));
  command.add_option("--algorithm", wishes.algorithm,
                     "auto, or a name, shape, composition or file (see algorithms/README.md)");
  command.add_flag("--deterministic", wishes.deterministic, "the same bits for any number of workers");
  command.add_option("--scheduler", wishes.scheduler, "tbb, sequential or starpu")
      ->transform(CLI::CheckedTransformer(schedulers))
      ->default_str("tbb");
  command.add_option("--kernel", wishes.kernel, "a kernel set from `heptad info`, or auto");
  command.add_flag("--json", json, "print JSON");
}

void settings::apply() const {
  (void)default_context();  // reports a bad value in the environment
  if (threads && heptad_set_num_threads(*threads) != HEPTAD_SUCCESS) {
    throw error(status::invalid_argument, heptad_last_error());
  }
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
  return text;
}

nlohmann::json to_json(report const& r) {
  return {{"plan", plan_to_json(r.plan)},     {"seconds", r.seconds},    {"gflops", r.gflops},
          {"workspace", r.workspace},         {"tasks", r.tasks},        {"busy_seconds", r.busy_seconds},
          {"idle_fraction", r.idle_fraction}, {"fell_back", r.fell_back}};
}

}  // namespace heptad::tools
