// SPDX-License-Identifier: BSD-3-Clause
// `heptad manual`, not for people: writes the man page and the completion for bash. Both are made from the command line
// as it is parsed, so they cannot fall behind it.
#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <heptad/heptad.hpp>

#include "tools/commands.hpp"

namespace heptad::tools {
namespace {

struct variable {
  std::string_view name, meaning;
};

constexpr std::array environment{
    variable{"HEPTAD_NUM_THREADS", "Workers; 0: all cores that may be used."},
    variable{"HEPTAD_SCHEDULER", "tbb, sequential or starpu."},
    variable{"HEPTAD_MAX_LEVELS", "At most so many levels; 0: the classical algorithm."},
    variable{"HEPTAD_FORCE_LEVELS", "Exactly so many levels wherever the dimensions allow, for tests."},
    variable{"HEPTAD_MAX_ERROR", "Largest expected growth of the error over the classical product; 1: classical."},
    variable{"HEPTAD_MAX_WORKSPACE", "Bytes, or with a suffix k, m, g."},
    variable{"HEPTAD_KERNEL", "A kernel set from heptad info."},
    variable{"HEPTAD_ALGORITHMS", "A folder of algorithm files, which are then known by name."},
    variable{"HEPTAD_PROFILE_DIR", "Where the measurements of heptad calibrate are kept and looked for."},
    variable{"HEPTAD_VERBOSE", "1: a line on stderr for each product."},
    variable{"HEPTAD_TRACE", "A file for the tasks of each product, as a trace for Chrome or Perfetto."},
    variable{"HEPTAD_MKL_DIR", "Where heptad bench looks for MKL first."}};

std::vector<CLI::App const*> commands_of(CLI::App const& app) {
  return app.get_subcommands([](CLI::App const* one) { return !one->get_name().empty() && !one->get_group().empty(); });
}

std::vector<CLI::Option const*> options_of(CLI::App const& app) {
  return app.get_options([](CLI::Option const* one) { return !one->get_group().empty(); });
}

/// Calls visit(path, command) for every command, the program itself first with an empty path.
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

/// "{a,b}" in the type of an option: what it may be.
std::vector<std::string> values_of(CLI::Option const& option) {
  std::string const type = option.get_type_name();
  auto const open = type.find('{'), close = type.find('}');
  if (open == std::string::npos || close == std::string::npos) return {};
  std::vector<std::string> values = CLI::detail::split(type.substr(open + 1, close - open - 1), ',');
  for (std::string& value : values) value = value.substr(0, value.find("->"));
  return values;
}

bool takes_value(CLI::Option const& option) { return option.get_items_expected_min() > 0; }

/// Text for roff: no character of it is a command.
std::string roff(std::string_view text) {
  std::string out;
  for (char const c : text) {
    if (c == '\\') out += "\\e";
    else if (c == '-') out += "\\-";
    else if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) out += fmt::format("\\&{}", c);
    else out += c;
  }
  return out;
}

std::string roff_usage(std::string const& path, CLI::App const& app) {
  std::string line = fmt::format("\\fBheptad {}\\fR", roff(path));
  for (CLI::Option const* option : options_of(app))
    if (option->nonpositional() == false) line += fmt::format(" \\fI{}\\fR", roff(option->get_name(true)));
  for (CLI::Option const* option : options_of(app))
    if (option->nonpositional() && option->get_required())
      line += fmt::format(" \\fB{}\\fR \\fIvalue\\fR", roff(names_of(*option).back()));
  return line + (commands_of(app).empty() ? " [\\fIoptions\\fR]" : " \\fIcommand\\fR");
}

void print_options(CLI::App const& app) {
  for (CLI::Option const* option : options_of(app)) {
    std::string text = option->get_description();
    if (!option->get_default_str().empty()) text += fmt::format(" (default: {})", option->get_default_str());
    if (option->nonpositional()) {
      std::string names;
      for (std::string const& name : names_of(*option))
        names += fmt::format("{}\\fB{}\\fR", names.empty() ? "" : ", ", roff(name));
      fmt::print(".TP\n{}{}\n{}\n", names, takes_value(*option) ? " \\fIvalue\\fR" : "", roff(text));
    } else {
      fmt::print(".TP\n\\fI{}\\fR\n{}\n", roff(option->get_name(true)), roff(text));
    }
  }
}

void print_man_page(CLI::App const& program) {
  fmt::print(
      ".TH HEPTAD 1 \"\" \"heptad {0}\" \"User Commands\"\n"
      ".SH NAME\nheptad \\- fast matrix multiplication as a task graph\n"
      ".SH SYNOPSIS\n.B heptad\n.I command\n.RI [ options ]\n"
      ".SH DESCRIPTION\n"
      "Multiplies matrices by Strassen's method and its relatives, as a graph of tasks, within an error bound that "
      "the\n"
      "caller chooses; says what it would do and why; measures itself beside other libraries; and finds and checks\n"
      "algorithms. Errors are bounded by norms, not element by element: small elements of a product may lose more of\n"
      "their digits than by the classical algorithm, which\n.B \\-\\-max\\-error 1\nasks for.\n.SH COMMANDS\n",
      version());
  walk(program, "", [](std::string const& path, CLI::App const& command) {
    if (path.empty()) {
      print_options(command);
      return;
    }
    fmt::print(".SS {}\n{}\n", roff_usage(path, command), roff(command.get_description() + "."));
    print_options(command);
  });
  fmt::print(
      ".SH ENVIRONMENT\nA value that is set by an option wins. A bad value is an error that names the variable.\n");
  for (variable const& one : environment) fmt::print(".TP\n.B {}\n{}\n", one.name, roff(one.meaning));
  fmt::print(
      ".SH EXIT STATUS\n0: done; 1: it failed, also when a check did not pass; 2: it was called wrongly. Errors are "
      "one\n"
      "line on stderr.\n"
      ".SH EXAMPLES\n.EX\nheptad gemm A.npy B.npy \\-o C.npy \\-\\-check\n"
      "heptad explain gemm \\-m 8192 \\-n 8192 \\-k 8192 \\-\\-workers 8,64\n"
      "heptad bench gemm \\-\\-sizes 1024,4096 \\-\\-type d,s \\-\\-threads 1,2\n.EE\n");
}

/// Bash: after which words of commands which words may come, and which values an option takes.
void print_completion(CLI::App const& program) {
  fmt::print(
      "# SPDX-License-Identifier: BSD-3-Clause\n# bash completion for heptad {}; written by `heptad manual bash`\n"
      "_heptad() {{\n  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} path= word commands "
      "options\n"
      "  for word in \"${{COMP_WORDS[@]:1:COMP_CWORD-1}}\"; do\n    case \"$path $word\" in\n",
      version());
  walk(program, "", [](std::string const& path, CLI::App const&) {
    if (path.empty()) return;
    auto const cut = path.rfind(' ');
    std::string const parent = cut == std::string::npos ? "" : path.substr(0, cut);
    fmt::print("      \"{} {}\") path=\"{}\" ;;\n", parent, path.substr(cut == std::string::npos ? 0 : cut + 1), path);
  });
  fmt::print("    esac\n  done\n  case \"$path $prev\" in\n");
  walk(program, "", [](std::string const& path, CLI::App const& command) {
    for (CLI::Option const* option : options_of(command)) {
      if (!takes_value(*option)) continue;
      for (std::string const& name : names_of(*option)) {
        auto const values = values_of(*option);
        if (values.empty()) fmt::print("    \"{} {}\") return ;;\n", path, name);  // a file's name, by bash itself
        else
          fmt::print("    \"{} {}\") COMPREPLY=($(compgen -W \"{}\" -- \"$cur\")); return ;;\n", path, name,
                     fmt::join(values, " "));
      }
    }
  });
  fmt::print("  esac\n  case $path in\n");
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

}  // namespace

void add_manual_command(CLI::App& app) {
  auto const what = std::make_shared<std::string>();
  auto* const command = app.add_subcommand("manual", "Write the man page or the completion")->group("");
  command->add_option("what", *what)->required()->check(CLI::IsMember({"man", "bash"}));
  command->callback([what, &app] { *what == "man" ? print_man_page(app) : print_completion(app); });
}

}  // namespace heptad::tools
