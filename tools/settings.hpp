// SPDX-License-Identifier: BSD-3-Clause
// The options that the commands share, and reports as text and JSON.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include <heptad/heptad.hpp>

namespace heptad::tools {

struct settings {
  options wishes;
  std::optional<int> threads;
  bool json = false;

  /// Adds --threads, --max-error, …, --json. The settings must outlive the parsing.
  void add_to(CLI::App& command);
  /// Checks the wishes, and gives the default context its workers. Options that are not set come from the environment.
  void apply() const;
};

/// Bytes, as HEPTAD_MAX_WORKSPACE has them, for CLI::Option::transform: the text becomes the number.
CLI::Validator bytes();

char const* scaling_name(scaling_kind kind);
std::string to_text(report const& r);
nlohmann::json to_json(report const& r);

}  // namespace heptad::tools
