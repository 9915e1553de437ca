// SPDX-License-Identifier: BSD-3-Clause
// The commands and options of the program as it parses them, for what is written from them: the man page and the
// completions.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

namespace heptad::tools {

/// Those that are shown to people.
std::vector<CLI::App const*> commands_of(CLI::App const& app);
std::vector<CLI::Option const*> options_of(CLI::App const& app);

/// Calls visit(path, command) for every command, the program itself first with an empty path.
void walk(CLI::App const& app, std::string const& path,
          std::function<void(std::string const&, CLI::App const&)> const& visit);

/// "-m", "--max-error"
std::vector<std::string> names_of(CLI::Option const& option);
/// "{a,b}" in the type of an option: what it may be.
std::vector<std::string> values_of(CLI::Option const& option);
bool takes_value(CLI::Option const& option);

void print_bash_completion(CLI::App const& program);
void print_zsh_completion(CLI::App const& program);
void print_fish_completion(CLI::App const& program);

}  // namespace heptad::tools
