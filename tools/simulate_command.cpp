// SPDX-License-Identifier: BSD-3-Clause
// heptad simulate: hands over to heptad-simulate beside this program, which is linked to StarPU's simulation.
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <heptad/heptad.hpp>

#include "tools/commands.hpp"
#include "tools/simulate/arguments.hpp"

namespace heptad::tools {
namespace {

[[noreturn]] void hand_over(std::vector<std::string> arguments) {
  auto const program = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "heptad-simulate";
  std::string name = program.string();
  std::vector<char*> words{name.data()};
  for (std::string& a : arguments) words.push_back(a.data());
  words.push_back(nullptr);
  execv(name.c_str(), words.data());
  throw error(status::invalid_argument,
              fmt::format("simulate needs {}, which -DHEPTAD_STARPU_SIMGRID=PREFIX builds; scripts/build-starpu.sh "
                          "--simgrid builds that prefix",
                          name));
}

}  // namespace

void add_simulate_command(CLI::App& app) {
  auto const given = std::make_shared<simulate_arguments>();
  auto* const command = app.add_subcommand("simulate", "A product on a machine that is not here");
  add_options(*command, *given);
  command->callback([given] { hand_over(words_of(*given)); });
}

}  // namespace heptad::tools
