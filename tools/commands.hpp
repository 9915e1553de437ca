// SPDX-License-Identifier: BSD-3-Clause
// The commands of the `heptad` program: each in a file of its own, each adds itself to the command line. A command
// fails by an exception; exit codes are given in main.cpp alone.
#pragma once

#include <CLI/CLI.hpp>

#include <heptad/heptad.hpp>

#include "src/api/arguments.hpp"

namespace heptad::tools {

/// Runs checks of what was asked for. Whoever asks for what they refuse has called the program wrongly.
template <typename Checks>
void check_usage(Checks const& checks) {
  try {
    checks();
  } catch (error const& refused) {
    throw CLI::ValidationError(refused.what());
  }
}

/// As a product checks its options.
inline void check_wishes(options const& wishes) {
  check_usage([&wishes] { check_options(wishes, element_type::f64); });
}

void add_gemm_command(CLI::App& app);
void add_explain_command(CLI::App& app);
void add_calibrate_command(CLI::App& app);
void add_info_command(CLI::App& app);
void add_search_command(CLI::App& app);
void add_verify_command(CLI::App& app);
void add_simulate_command(CLI::App& app);
void add_bench_command(CLI::App& app);
void add_manual_command(CLI::App& app);

}  // namespace heptad::tools
