// SPDX-License-Identifier: BSD-3-Clause
// heptad calibrate: measures this machine and keeps the result for the planner.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "schedulers/cuda/backend.hpp"
#include "src/api/calibrate.hpp"
#include "src/plan/device_profile_file.hpp"
#include "src/plan/profile.hpp"
#include "tools/bounds.hpp"
#include "tools/commands.hpp"
#include "tools/output_file.hpp"
#include "tools/print_json.hpp"

namespace heptad::tools {
namespace {

struct calibrate_arguments {
  std::string kernel = "auto";
  std::string output, device = "cpu";
  bool json = false;
};

void show_progress(double fraction, std::string const& what) {
  // A terminal keeps one line; a log gets one line for each measurement.
  bool const terminal = isatty(STDERR_FILENO) != 0;
  fmt::print(stderr, "{}{:3.0f} % {:<60}{}", terminal ? "\r" : "", 100 * fraction, what,
             terminal && fraction < 1 ? "" : "\n");
  std::fflush(stderr);
}

void print(machine_profile const& x) {
  auto const line = [](char const* label, std::string const& value) { fmt::print("{:<12}{}\n", label, value); };
  line("cpu", fmt::format("{}, {} cores, kernel set {}", x.cpu, x.cores, x.kernel));
  line("product", fmt::format("{:.1f} GFLOP/s f64, {:.1f} GFLOP/s f32, one core", x.f64.large_product_gflops(),
                              x.f32.large_product_gflops()));
  for (pass_rate const& p : x.passes)
    line("passes", fmt::format("{:9.3f} MB: {:.1f} GB/s one core, {:.1f} all; {:.1f} looked at", p.bytes / 1e6,
                               p.gbytes, p.gbytes_all, p.scan_gbytes));
  for (pass_width const& w : x.widths)
    line("levels", fmt::format("over {:2} blocks: {:.2f} times as long as by their bytes", w.blocks, w.slower));
  line("update", fmt::format("{:.1f} GB/s", x.update_gbytes));
  line("overhead", fmt::format("{:.2f} µs a task, {:.2f} µs a call", x.task_seconds * 1e6, x.call_seconds * 1e6));
}

void print(cuda::device_profile const& x) {
  auto const line = [](char const* label, std::string const& value) { fmt::print("{:<12}{}\n", label, value); };
  auto const best = [](cuda::product_rates const& rates) {
    double most = 0;
    for (auto const& cube : rates.cubes) most = std::max(most, cube.single);
    return most;
  };
  line("device", fmt::format("{}, cuBLAS {}", x.name, x.cublas));
  line("product", fmt::format("{:.1f} TFLOP/s f64, {:.1f} f32, {:.1f} TF32, {:.1f} BF16, at the best size", best(x.f64),
                              best(x.f32), best(x.tf32), best(x.bf16)));
  line("passes", fmt::format("{:.0f} GB/s and {:.1f} µs each; a call of cuBLAS {:.1f} µs", x.pass_gbytes,
                             x.pass_seconds * 1e6, x.call_seconds * 1e6));
  line("link", fmt::format("{:.1f} GB/s to the device, {:.1f} back; {:.0f} ns for each line of a block besides; one "
                           "thread copies {:.1f} GB/s to pinned memory",
                           x.load_gbytes, x.store_gbytes, x.line_seconds * 1e9, x.staged_gbytes));
}

void run_on_device(calibrate_arguments const& given) {
  device_backend& backend = find_cuda_backend();
  static_cast<void>(backend.devices());  // throws where there is none, before folders are made
  require_writable(given.output.empty() ? cuda::device_profiles_path() : given.output);
  std::string const path = backend.calibrate(given.output, show_progress);
  if (path.empty()) throw error(status::invalid_argument, "--device cuda: these devices are not measured");
  if (given.json) {
    print_json({{"path", path}, {"devices", nlohmann::json::parse(std::ifstream(path))}});
    return;
  }
  print(*cuda::load_device_profile(path, ""));
  fmt::print("{:<12}{}\n", "saved", path);
}

void run(calibrate_arguments const& given) {
  check_wishes({.kernel = given.kernel});
  if (given.device == "cuda") return run_on_device(given);
  std::string const path = given.output.empty() ? profile_path() : given.output;
  require_writable(path);
  calibration_settings how;
  how.progress = show_progress;
  how.kernel = given.kernel;
  machine_profile const measured = calibrate(how);
  save_profile(measured, path);
  if (given.json) {
    print_json({{"path", path}, {"profile", nlohmann::json::parse(std::ifstream(path))}});
    return;
  }
  print(measured);
  fmt::print("{:<12}{}\n", "saved", path);
}

}  // namespace

void add_calibrate_command(CLI::App& app) {
  auto const given = std::make_shared<calibrate_arguments>();
  auto* const command = app.add_subcommand("calibrate", "Measure this machine for the planner, about four minutes");
  command->add_option("--kernel", given->kernel, "a kernel set from `heptad info`, or auto");
  command->add_option("--device", given->device, "cpu, or cuda: the current CUDA device, some seconds")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->capture_default_str();
  command->add_option("-o,--output", given->output, "the file for the profile, instead of the planner's own")
      ->check(file_name());
  command->add_flag("--json", given->json, "print JSON");
  command->callback([given] { run(*given); });
}

}  // namespace heptad::tools
