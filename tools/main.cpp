// SPDX-License-Identifier: BSD-3-Clause
// The `heptad` program. Exit code 0: done; 1: it failed; 2: it was called wrongly. Errors are one line on stderr.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include <heptad/heptad.hpp>

#include "src/api/environment.hpp"
#include "tools/command_tree.hpp"
#include "tools/commands.hpp"

namespace {

void print_error(std::string message) {
  std::replace(message.begin(), message.end(), '\n', ' ');
  fmt::print(stderr, "heptad: {}\n", message);
}

/// What is wrong with the command line. Where a word is no command CLI11 says only that one is missing.
std::string words_for(CLI::ParseError const& e, CLI::App const& app) {
  CLI::App const* last = &app;
  while (!last->get_subcommands().empty()) last = last->get_subcommands().front();
  std::vector<std::string> commands;
  for (CLI::App const* one : heptad::tools::commands_of(*last)) commands.push_back(one->get_name());
  if (e.get_name() != "RequiredError" || commands.empty()) return e.what();
  auto const words = last->remaining();
  if (!words.empty() && words.front().starts_with('-')) return CLI::ExtrasError(words).what();
  return fmt::format("{} must be {}", words.empty() ? "the command" : fmt::format("'{}'", words.front()),
                     fmt::join(commands, ", "));
}

int run(int argc, char** argv) {
  CLI::App app("Fast matrix multiplication as a task graph.", "heptad");
  app.require_subcommand(1);
  app.set_version_flag("--version", heptad::version());
  heptad::tools::add_gemm_command(app);
  heptad::tools::add_explain_command(app);
  heptad::tools::add_calibrate_command(app);
  heptad::tools::add_info_command(app);
  heptad::tools::add_search_command(app);
  heptad::tools::add_verify_command(app);
  heptad::tools::add_simulate_command(app);
#ifdef HEPTAD_WITH_BENCH
  heptad::tools::add_bench_command(app);
#endif
  heptad::tools::add_manual_command(app);
  app.parse_complete_callback([&app] {  // before any command but `manual`, which builds run
    if (!app.got_subcommand("manual")) static_cast<void>(heptad::process_environment());
  });
  try {
    app.parse(argc, argv);
    return 0;
  } catch (CLI::ParseError const& e) {
    if (e.get_exit_code() == 0) return app.exit(e);  // --help, --version
    print_error(words_for(e, app));
    return 2;
  } catch (std::exception const& e) {
    print_error(e.what());
    return 1;
  }
}

/// A file that is opened must not become a standard stream that the caller has closed, and be written into. Opened for
/// reading, the streams for output still fail.
void fill_standard_streams() {
  int next = open("/dev/null", O_RDONLY);
  while (next >= 0 && next <= STDERR_FILENO) next = open("/dev/null", O_RDONLY);
  close(next);
}

/// Whether all that was printed is written: a full disk may show only now.
bool is_all_written() {
  std::cout.flush();
  return std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good();
}

}  // namespace

int main(int argc, char** argv) {
  fill_standard_streams();
  std::signal(SIGXFSZ, SIG_IGN);  // a file that becomes too large is an error of who writes it
  int const status = run(argc, argv);
  if (is_all_written()) return status;
  print_error(fmt::format("standard output could not be written: {}", std::strerror(errno)));
  return status == 0 ? 1 : status;
}
