// SPDX-License-Identifier: BSD-3-Clause
// heptad explain gemm: the plan for a shape, its graph, and by a dry run of that graph how it would scale.
#include <fmt/format.h>

#include <cstdio>
#include <initializer_list>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include <heptad/heptad.hpp>

#include "schedulers/simulate/simulate.hpp"
#include "src/api/arguments.hpp"
#include "src/api/context.hpp"
#include "src/api/diagnostics.hpp"
#include "src/api/environment.hpp"
#include "src/api/prepare.hpp"
#include "src/plan/counted.hpp"
#include "src/plan/device_planner.hpp"
#include "src/plan/device_profile_file.hpp"
#include "src/plan/plan_json.hpp"
#include "tools/bounds.hpp"
#include "tools/commands.hpp"
#include "tools/explain_shared.hpp"
#include "tools/graphviz.hpp"
#include "tools/output_file.hpp"
#include "tools/print_json.hpp"
#include "tools/settings.hpp"
#include "tools/timed_tasks.hpp"

namespace heptad::tools {
namespace {

struct explain_arguments {
  std::int64_t m = 0, n = 0, k = 0;
  char type = 'd';
  bool accumulate = false, measured = false;
  std::vector<int> workers;
  std::string dot, svg, trace, device = "cpu", arithmetic = "exact";
  shared_arguments shared;
  settings common;
};

/// A graph, planned for so many workers, run on paper.
struct dry_run {
  int workers = 1;
  plan how;
  double seconds = 0, work = 0, critical_path = 0;

  [[nodiscard]] double efficiency() const noexcept { return work / (seconds * workers); }
};

simulation simulate(context::impl& state, prepared_plan const& prepared, std::vector<double> const& seconds) {
  simulated_machine machine;
  machine.workers = prepared.how.workers;
  machine.bandwidth = state.machine().memory_gbytes() * 1e9;
  return heptad::simulate(prepared.work, prepared.order, seconds, machine);
}

/// `measured`: with the times that its tasks take here.
template <typename T>
dry_run run_dry(context::impl& state, plan_key key, int workers, bool measured) {
  key.workers = workers;
  workspace memory;
  if (measured) memory = get_workspace(state, key);
  auto const prepared = measured ? memory.prepared : prepare(state, key);
  auto seconds = predicted_seconds(prepared->work);
  if (measured) {
    fmt::print(stderr, "running the graph for {} twice on one (about {:.1f} s)\n", counted(workers, "worker"),
               2 * std::accumulate(seconds.begin(), seconds.end(), 0.0));
    seconds = time_tasks<T>(memory);
  }
  auto const result = simulate(state, *prepared, seconds);
  return {workers, prepared->how, result.run.seconds, result.work, result.critical_path};
}

struct known_device {
  cuda::device_profile rates;
  std::string source;  // where they are not of a device of this machine
};

/// The device that `heptad calibrate --device cuda` measured last, else the table that Heptad comes with.
known_device find_device() {
  auto profile = cuda::load_device_profile(cuda::device_profiles_path(), "");
  std::string const stale = profile ? cuda::stale_reason(*profile, 0) : "";
  if (profile && stale.empty()) return {*profile, ""};
  auto const table = cuda::default_device_profile();
  std::string const why =
      profile ? fmt::format("the profile of {} was {}", profile->name, stale) : "no device measured here";
  return {table, fmt::format("{}: the built-in table of an {}", why, table.name)};
}

/// The plan for a CUDA device with the rates that Heptad knows; no device is needed.
void run_on_device(explain_arguments const& given, problem const& shape) {
  options const& wishes = given.common.wishes;
  auto const [device, source] = find_device();
  auto const type = given.type == 'd' ? element_type::f64 : element_type::f32;
  if (given.shared.devices > 0) {
    if (!source.empty() && !given.common.json) fmt::print("{:<12}{}\n", "device", source);
    return explain_shared(given.shared, type, shape, device, wishes, given.common.json);
  }
  cuda::options on_device = cuda::options_of(wishes);
  on_device.max_workspace = wishes.max_workspace;
  if (given.arithmetic == "tf32") on_device.arithmetic = cuda::arithmetic::tf32;
  if (given.arithmetic == "bf16") on_device.arithmetic = cuda::arithmetic::bf16;
  auto how = cuda::choose_device_plan(type, shape, device.memory_bytes, device, on_device);
  if (!source.empty()) how.device = source;
  if (given.common.json) print_json(plan_to_json(how));
  else fmt::print("{}", cuda::explain(how));
}

/// The predicted run, for Perfetto and scripts/plot_trace.py.
void write_trace(context::impl& state, prepared_plan const& prepared, std::string const& path) {
  auto const result = simulate(state, prepared, predicted_seconds(prepared.work));
  problem const& x = prepared.how.shape;
  std::string const title =
      fmt::format("predicted: {} m={} n={} k={}, {}", prepared.how.type == element_type::f64 ? "dgemm" : "sgemm", x.m,
                  x.n, x.k, describe_levels(prepared.how));
  write_output(path, fmt::format("[\n{}\n]\n", to_trace_events({{{prepared.work, result.run}}}, title, 1)));
}

void write_pictures(context::impl& state, explain_arguments const& given, plan_key const& key) {
  if (given.dot.empty() && given.svg.empty() && given.trace.empty()) return;
  auto const prepared = prepare(state, key);
  if (!given.trace.empty()) write_trace(state, *prepared, given.trace);
  if (given.dot.empty() && given.svg.empty()) return;
  std::string const dot = to_dot(prepared->work, prepared->order);
  if (!given.dot.empty()) write_output(given.dot, dot);
  if (!given.svg.empty()) write_output(given.svg, drawn_by_graphviz(dot, given.svg));
}

/// Names the first of these options that was given.
void refuse(CLI::App const& command, std::initializer_list<char const*> options, std::string const& why) {
  for (char const* option : options)
    if (command.count(option) > 0) throw CLI::ValidationError(option, why);
}

/// Refuses what would have no meaning on the device, or without one.
void check_device_options(CLI::App const& command, explain_arguments const& given) {
  if (given.device != "cuda") return refuse(command, {"--arithmetic", "--devices"}, "needs --device cuda");
  refuse(command, {"--dot", "--svg", "--trace", "--workers", "--measured"}, "is not for --device cuda");
  if (given.shared.devices > 0)
    return refuse(command, {"--arithmetic"}, "is not for products that --devices shares: they are exact");
  refuse(command, {"--threads", "--deterministic", "--scheduler", "--kernel", "--scaling", "--refine"},
         "is for the CPU, which takes no part with --device cuda alone");
  if (given.type == 'd' && given.arithmetic != "exact")
    refuse(command, {"--arithmetic"}, fmt::format("{} is for --type s", given.arithmetic));
}

template <typename T>
void run(explain_arguments const& given) {
  problem shape;
  shape.m = given.m;
  shape.n = given.n;
  shape.k = given.k;
  shape.beta_zero = !given.accumulate;
  check_usage([&shape] { check_problem(shape, sizeof(T)); });
  given.common.apply();
  if (given.device == "cuda") return run_on_device(given, shape);
  for (std::string const& path : {given.dot, given.svg, given.trace}) require_writable(path);
  plan const how = make_plan<T>(default_context(), shape, given.common.wishes);

  context::impl& state = default_context().state();
  plan_key const key{how.type, how.shape, how.workers, with_defaults(given.common.wishes, state.defaults)};
  std::vector<dry_run> runs;
  for (int const workers : given.workers) runs.push_back(run_dry<T>(state, key, workers, given.measured));
  write_pictures(state, given, key);

  if (given.common.json) {
    nlohmann::json out = {{"plan", plan_to_json(how)}, {"machine", state.machine_source()}};
    if (!runs.empty())
      out["dry_runs_assume"] = {{"seconds_of_tasks", given.measured ? "measured" : "predicted"},
                                {"gbytes_per_second_of_all_passes", state.machine().memory_gbytes()}};
    for (dry_run const& r : runs) {
      out["dry_runs"].push_back({{"workers", r.workers},
                                 {"plan", plan_to_json(r.how)},
                                 {"seconds", r.seconds},
                                 {"work_seconds", r.work},
                                 {"critical_path_seconds", r.critical_path},
                                 {"efficiency", r.efficiency()}});
    }
    print_json(out);
    return;
  }
  fmt::print("{}{:<12}{}\n", explain(how), "machine", state.machine_source());
  double const flops = 2.0 * static_cast<double>(given.m) * static_cast<double>(given.n) * static_cast<double>(given.k);
  if (!runs.empty())
    fmt::print("{:<12}{} seconds of tasks; passes share {:.1f} GB/s, products are in caches of their own\n", "dry runs",
               given.measured ? "measured" : "predicted", state.machine().memory_gbytes());
  for (dry_run const& r : runs) {
    fmt::print("{:<12}{}: {:.6f} s, {:.1f} GFLOP/s, {:.1f} % busy, {} tasks, critical path {:.6f} s; {}\n", "dry run",
               counted(r.workers, "worker"), r.seconds, flops / r.seconds / 1e9, 100 * r.efficiency(), r.how.tasks,
               r.critical_path, describe_levels(r.how));
  }
}

}  // namespace

void add_explain_command(CLI::App& app) {
  auto const given = std::make_shared<explain_arguments>();
  auto* const explain_app = app.add_subcommand("explain", "What would be done, and why");
  explain_app->require_subcommand(1);
  auto* const command = explain_app->add_subcommand("gemm", "C := alpha A B + beta C, column-major");
  command->add_option("-m", given->m, "rows of C")->required()->check(at_least(std::int64_t{0}));
  command->add_option("-n", given->n, "columns of C")->required()->check(at_least(std::int64_t{0}));
  command->add_option("-k", given->k, "columns of A")->required()->check(at_least(std::int64_t{0}));
  command->add_option("--type", given->type, "d or s")->check(CLI::IsMember({"d", "s"}))->capture_default_str();
  command->add_flag("--accumulate", given->accumulate, "beta is not 0");
  auto* const workers =
      command->add_option("--workers", given->workers, "dry runs with so many workers, for example 8,64")
          ->delimiter(',')
          ->check(within(1, most_threads));
  command->add_flag("--measured", given->measured, "dry runs with the times that the tasks take here, on one worker")
      ->needs(workers);
  command->add_option("--dot", given->dot, "write the graph for Graphviz")->check(file_name());
  command->add_option("--svg", given->svg, "draw the graph with Graphviz")->check(file_name());
  command->add_option("--trace", given->trace, "write the predicted run for Perfetto and scripts/plot_trace.py")
      ->check(file_name());
  command->add_option("--device", given->device, "cpu or cuda")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->capture_default_str();
  command->add_option("--arithmetic", given->arithmetic, "of float products on a CUDA device: exact, tf32 or bf16")
      ->check(CLI::IsMember({"exact", "tf32", "bf16"}))
      ->capture_default_str();
  auto* const devices = command
                            ->add_option("--devices", given->shared.devices,
                                         "share a product of host matrices by CPU and so many devices")
                            ->check(within(1, 16));
  command->add_option("--logical-devices", given->shared.logical_devices, "each of them as so many")
      ->check(within(1, 64))
      ->needs(devices)
      ->capture_default_str();
  command->add_option("--cpu-share", given->shared.cpu_share, "of C, for the CPU; without it: planned by the rates")
      ->check(within(0.0, 1.0))
      ->needs(devices);
  command->add_option("--copy-threads", given->shared.copy_threads, "of each device, for operands that are not pinned")
      ->check(at_least(1))
      ->needs(devices)
      ->capture_default_str();
  command->add_flag("--pageable", given->shared.pageable, "operands that are not pinned")->needs(devices);
  given->common.add_to(*command);
  command->callback([given, command] {
    check_device_options(*command, *given);
    given->type == 'd' ? run<double>(*given) : run<float>(*given);
  });
}

}  // namespace heptad::tools
