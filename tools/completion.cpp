// SPDX-License-Identifier: BSD-3-Clause
// Completion for bash, zsh and fish: after which words of commands which words may come, and which values an option
// takes. Each script first finds its place, the words of commands that were typed: "bench gemm".
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include <heptad/heptad.hpp>

#include "tools/command_tree.hpp"

namespace heptad::tools {
namespace {

/// A path without its last word, and that word.
struct step {
  std::string parent, word;
};

step last_step(std::string const& path) {
  auto const cut = path.rfind(' ');
  if (cut == std::string::npos) return {"", path};
  return {path.substr(0, cut), path.substr(cut + 1)};
}

void print_head(std::string_view shell) {
  fmt::print(
      "# SPDX-License-Identifier: BSD-3-Clause\n# {0} completion for heptad {1}; written by `heptad manual {0}`\n",
      shell, version());
}

/// For bash and zsh: `case "$place $word"` of the words so far.
void print_steps(CLI::App const& program) {
  walk(program, "", [](std::string const& path, CLI::App const&) {
    if (path.empty()) return;
    auto const [parent, word] = last_step(path);
    fmt::print("      \"{} {}\") place=\"{}\" ;;\n", parent, word, path);
  });
}

/// visit(path, name, values) for every name of an option that takes a value.
template <typename Visit>
void for_each_value(CLI::App const& program, Visit const& visit) {
  walk(program, "", [&visit](std::string const& path, CLI::App const& command) {
    for (CLI::Option const* option : options_of(command)) {
      if (!takes_value(*option)) continue;
      for (std::string const& name : names_of(*option))
        visit(path, name, fmt::format("{}", fmt::join(values_of(*option), " ")));
    }
  });
}

/// In single quotes, which end and begin again around those of the text in bash and zsh; fish escapes them.
std::string in_quotes(std::string_view text, std::string_view quote = "'\\''") {
  std::string out = "'";
  for (char const c : text) {
    if (c == '\'') out += quote;
    else if (c == '\n') out += ' ';
    else out += c;
  }
  return out + "'";
}

std::string in_fish_quotes(std::string_view text) {
  std::string escaped;
  for (char const c : text) {
    if (c == '\\') escaped += '\\';
    escaped += c;
  }
  return in_quotes(escaped, "\\'");
}

}  // namespace

void print_bash_completion(CLI::App const& program) {
  print_head("bash");
  fmt::print(
      "_heptad() {{\n  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} place= word commands "
      "options\n"
      "  for word in \"${{COMP_WORDS[@]:1:COMP_CWORD-1}}\"; do\n    case \"$place $word\" in\n");
  print_steps(program);
  fmt::print("    esac\n  done\n  case \"$place $prev\" in\n");
  for_each_value(program, [](std::string const& path, std::string const& name, std::string const& values) {
    if (values.empty()) fmt::print("    \"{} {}\") return ;;\n", path, name);  // a file's name, by bash itself
    else fmt::print("    \"{} {}\") COMPREPLY=($(compgen -W \"{}\" -- \"$cur\")); return ;;\n", path, name, values);
  });
  fmt::print("  esac\n  case $place in\n");
  walk(program, "", [](std::string const& path, CLI::App const& command) {
    std::vector<std::string> commands, options;
    for (CLI::App const* one : commands_of(command)) commands.push_back(one->get_name());
    for (CLI::Option const* option : options_of(command)) {
      auto const names = names_of(*option);
      options.insert(options.end(), names.begin(), names.end());
    }
    fmt::print("    \"{}\") commands=\"{}\" options=\"{}\" ;;\n", path, fmt::join(commands, " "),
               fmt::join(options, " "));
  });
  fmt::print(
      "  esac\n  if [[ $cur == -* ]]; then\n    COMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))\n"
      "  else\n    COMPREPLY=($(compgen -W \"$commands\" -- \"$cur\"))\n  fi\n}}\n"
      "complete -o default -F _heptad heptad\n");
}

// `path` is zsh's own word for PATH, hence the place.
void print_zsh_completion(CLI::App const& program) {
  fmt::print("#compdef heptad\n");
  print_head("zsh");
  fmt::print(
      "_heptad() {{\n  local place= word\n  local -a commands options\n"
      "  for word in \"${{(@)words[2,CURRENT-1]}}\"; do\n    case \"$place $word\" in\n");
  print_steps(program);
  fmt::print("    esac\n  done\n  case \"$place ${{words[CURRENT-1]}}\" in\n");
  for_each_value(program, [](std::string const& path, std::string const& name, std::string const& values) {
    fmt::print("    \"{} {}\") {}; return ;;\n", path, name, values.empty() ? "_files" : "compadd -- " + values);
  });
  fmt::print("  esac\n  case $place in\n");
  walk(program, "", [](std::string const& path, CLI::App const& command) {
    fmt::print("    \"{}\")\n      commands=(\n", path);
    for (CLI::App const* one : commands_of(command))
      fmt::print("        {}\n", in_quotes(one->get_name() + ':' + one->get_description()));
    fmt::print("      )\n      options=(\n");
    for (CLI::Option const* option : options_of(command)) {
      for (std::string const& name : names_of(*option))
        fmt::print("        {}\n", in_quotes(name + ':' + option->get_description()));
    }
    fmt::print("      ) ;;\n");
  });
  fmt::print(
      "  esac\n  if [[ $PREFIX == -* ]]; then\n    _describe -o option options\n"
      "  elif (($#commands)); then\n    _describe command commands\n  else\n    _files\n  fi\n}}\n"
      "if [[ $funcstack[1] == _heptad ]]; then\n  _heptad \"$@\"\nelse\n  compdef _heptad heptad\nfi\n");
}

void print_fish_completion(CLI::App const& program) {
  print_head("fish");
  fmt::print(
      "function __heptad_at\n    set -l place\n    for word in (commandline -opc)[2..-1]\n"
      "        switch \"$place $word\"\n");
  walk(program, "", [](std::string const& path, CLI::App const&) {
    if (path.empty()) return;
    auto const [parent, word] = last_step(path);
    fmt::print("            case {}\n                set place {}\n", in_fish_quotes(parent + ' ' + word),
               in_fish_quotes(path));
  });
  fmt::print("        end\n    end\n    test \"$place\" = \"$argv[1]\"\nend\n");
  walk(program, "", [](std::string const& path, CLI::App const& command) {
    std::string const here =
        fmt::format("complete -c heptad -n {}", in_fish_quotes(fmt::format("__heptad_at '{}'", path)));
    for (CLI::App const* one : commands_of(command))
      fmt::print("{} -f -a {} -d {}\n", here, one->get_name(), in_fish_quotes(one->get_description()));
    for (CLI::Option const* option : options_of(command)) {
      if (option->nonpositional() == false) continue;
      std::string line = here;
      for (std::string const& name : option->get_snames()) line += " -s " + name;
      for (std::string const& name : option->get_lnames()) line += " -l " + name;
      auto const values = values_of(*option);
      if (!values.empty()) line += fmt::format(" -x -a {}", in_fish_quotes(fmt::format("{}", fmt::join(values, " "))));
      else if (takes_value(*option)) line += " -r";
      fmt::print("{} -d {}\n", line, in_fish_quotes(option->get_description()));
    }
  });
}

}  // namespace heptad::tools
