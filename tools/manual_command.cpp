// SPDX-License-Identifier: BSD-3-Clause
// `heptad manual`, not for people: writes the man page and the completions. All are made from the command line as it is
// parsed, so they cannot fall behind it.
#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <heptad/heptad.hpp>

#include "tools/command_tree.hpp"
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
    variable{"HEPTAD_FORCE_LEVELS",
             "Exactly so many levels wherever the dimensions and the workspace allow, for tests."},
    variable{"HEPTAD_MAX_ERROR", "Largest expected growth of the error over the classical product; 1: classical."},
    variable{"HEPTAD_MAX_WORKSPACE", "Bytes, or with a suffix k, m, g in either case for powers of 1024."},
    variable{"HEPTAD_KERNEL", "A kernel set from heptad info."},
    variable{"HEPTAD_ALGORITHMS", "A folder of algorithm files, which are then known by name."},
    variable{"HEPTAD_PROFILE_DIR", "Where the measurements of heptad calibrate are kept and looked for."},
    variable{"HEPTAD_VERBOSE", "1: a line on stderr for each product."},
    variable{"HEPTAD_TRACE",
             "A file for the tasks of each product, as a trace for Chrome or Perfetto; products too small to be "
             "planned leave none."},
    variable{"HEPTAD_MKL_DIR", "Where heptad bench looks for MKL first."}};

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
      "algorithms. Files that are written are tried before the work, and folders that are missing are made.\n"
      "Errors are bounded by norms, not element by element: small elements of a product may lose more of\n"
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
      ".SH ENVIRONMENT\nA value that is set by an option wins. An empty one is as good as none, a bad one an error "
      "that names the variable.\n");
  for (variable const& one : environment) fmt::print(".TP\n.B {}\n{}\n", one.name, roff(one.meaning));
  fmt::print(
      ".SH EXIT STATUS\n0: done; 1: it failed, also when a check did not pass, or by what a file or a variable holds;\n"
      "2: it was called wrongly: an argument, an option or its value is refused. Errors are one line on stderr.\n"
      ".SH EXAMPLES\n.EX\nheptad gemm A.npy B.npy \\-o C.npy \\-\\-check\n"
      "heptad explain gemm \\-m 8192 \\-n 8192 \\-k 8192 \\-\\-workers 8,64\n"
      "heptad bench gemm \\-\\-sizes 1024,4096 \\-\\-type d,s \\-\\-threads 1,2\n.EE\n");
}

}  // namespace

void add_manual_command(CLI::App& app) {
  auto const what = std::make_shared<std::string>();
  auto* const command = app.add_subcommand("manual", "Write the man page or a completion")->group("");
  command->add_option("what", *what)->required()->check(CLI::IsMember({"man", "bash", "zsh", "fish"}));
  command->callback([what, &app] {
    (*what == "man"    ? print_man_page
     : *what == "bash" ? print_bash_completion
     : *what == "zsh"  ? print_zsh_completion
                       : print_fish_completion)(app);
  });
}

}  // namespace heptad::tools
