// SPDX-License-Identifier: BSD-3-Clause
// The command line of `heptad simulate`, which heptad reads to hand it over, and heptad-simulate to obey.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tools/bounds.hpp"

namespace heptad::tools {

struct simulate_arguments {
  std::string platform, policy = "dmdas", measured;
  std::int64_t m = 0, n = 0, k = 0;
  char type = 'd';
  bool accumulate = false, free = false, as_json = false;
};

inline void add_options(CLI::App& app, simulate_arguments& x) {
  app.add_option("--platform", x.platform, "h200x1, h200x4, h200x8, or cpuxN: N cores of this machine")->required();
  app.add_option("-m", x.m, "rows of C")->required()->check(at_least(std::int64_t{1}));
  app.add_option("-n", x.n, "columns of C")->required()->check(at_least(std::int64_t{1}));
  app.add_option("-k", x.k, "columns of A")->required()->check(at_least(std::int64_t{1}));
  app.add_option("--type", x.type, "d or s")->check(CLI::IsMember({"d", "s"}))->capture_default_str();
  app.add_flag("--accumulate", x.accumulate, "beta is not 0");
  app.add_option("--policy", x.policy, "a scheduling policy of StarPU")->capture_default_str();
  app.add_option("--measured", x.measured,
                 "a file of HEPTAD_TRACE: tasks on cpuxN are as much slower or faster than predicted as those of other "
                 "products were there; calls like this one are compared with");
  app.add_flag("--free", x.free, "the policy places every task, in the order of the graph; no block of C has an owner");
  app.add_flag("--json", x.as_json, "print JSON");
}

/// What add_options() reads back.
inline std::vector<std::string> words_of(simulate_arguments const& x) {
  std::vector<std::string> words{"--platform", x.platform, "--policy", x.policy, "--type", std::string(1, x.type)};
  for (auto const& [name, size] : {std::pair{"-m", x.m}, {"-n", x.n}, {"-k", x.k}})
    words.insert(words.end(), {name, std::to_string(size)});
  if (!x.measured.empty()) words.insert(words.end(), {"--measured", std::filesystem::absolute(x.measured).string()});
  for (auto const& [name, set] : {std::pair{"--accumulate", x.accumulate}, {"--free", x.free}, {"--json", x.as_json}})
    if (set) words.emplace_back(name);
  return words;
}

}  // namespace heptad::tools
