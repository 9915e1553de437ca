// SPDX-License-Identifier: BSD-3-Clause
#include "tools/command_tree.hpp"

namespace heptad::tools {

std::vector<CLI::App const*> commands_of(CLI::App const& app) {
  return app.get_subcommands([](CLI::App const* one) { return !one->get_name().empty() && !one->get_group().empty(); });
}

std::vector<CLI::Option const*> options_of(CLI::App const& app) {
  return app.get_options([](CLI::Option const* one) { return !one->get_group().empty(); });
}

void walk(CLI::App const& app, std::string const& path,
          std::function<void(std::string const&, CLI::App const&)> const& visit) {
  visit(path, app);
  for (CLI::App const* one : commands_of(app))
    walk(*one, path.empty() ? one->get_name() : path + ' ' + one->get_name(), visit);
}

std::vector<std::string> names_of(CLI::Option const& option) {
  std::vector<std::string> names;
  for (std::string const& name : option.get_snames()) names.push_back("-" + name);
  for (std::string const& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

std::vector<std::string> values_of(CLI::Option const& option) {
  std::string const type = option.get_type_name();
  auto const open = type.find('{'), close = type.find('}');
  if (open == std::string::npos || close == std::string::npos) return {};
  std::vector<std::string> values = CLI::detail::split(type.substr(open + 1, close - open - 1), ',');
  for (std::string& value : values) value = value.substr(0, value.find("->"));
  return values;
}

bool takes_value(CLI::Option const& option) { return option.get_items_expected_min() > 0; }

}  // namespace heptad::tools
