// SPDX-License-Identifier: BSD-3-Clause
// heptad info: what this build can do on this machine.
#include <fmt/format.h>
#include <oneapi/tbb/version.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include <heptad/heptad.hpp>

#include "codelets/cpu/kernel_set.hpp"
#include "src/algorithm/algorithm.hpp"
#include "src/api/context.hpp"
#include "src/plan/profile.hpp"
#include "tools/algorithm_json.hpp"
#include "tools/commands.hpp"
#include "tools/print_json.hpp"

namespace heptad::tools {
namespace {

template <typename T>
nlohmann::json kernels() {
  auto list = nlohmann::json::array();
  auto const* chosen = &cpu::best_kernel_set<T>();
  for (auto const* set : cpu::kernel_sets<T>()) {
    cpu::blocking const b = set->available() ? set->blocks() : cpu::blocking{};
    list.push_back({{"name", set->name},
                    {"available", set->available()},
                    {"chosen", set == chosen},
                    {"mr", b.mr},
                    {"nr", b.nr},
                    {"mc", b.mc},
                    {"kc", b.kc},
                    {"nc", b.nc}});
  }
  return list;
}

nlohmann::json collect() {
  context::impl& state = default_context().state();
  machine_profile const here = default_profile();
  nlohmann::json out = {{"version", version()},
                        {"tbb", TBB_runtime_version()},
                        {"cpu", here.cpu},
                        {"cores", here.cores},
                        {"threads", default_context().threads()},
                        {"memory_bytes", here.memory_bytes},
                        {"free_bytes", free_memory()},
                        {"l2_bytes", here.l2_bytes},
                        {"l3_bytes", here.l3_bytes},
                        {"profile", {{"measured", state.machine().measured}, {"source", state.machine_source()}}},
                        {"kernels", {{"f64", kernels<double>()}, {"f32", kernels<float>()}}}};
  for (algorithm_header const& header : known_algorithms())
    out["algorithms"].push_back(describe_algorithm(*find_algorithm(header.name)));
  return out;
}

/// The first words of a source, which may be a command of several hundred characters.
std::string shortened(std::string const& source) {
  constexpr std::size_t most = 60;
  if (source.size() <= most) return source;
  return source.substr(0, source.rfind(' ', most)) + " …";
}

void print(nlohmann::json const& info) {
  auto const line = [](char const* label, std::string const& value) { fmt::print("{:<12}{}\n", label, value); };
  auto const text = [&info](char const* key) { return info[key].get<std::string>(); };
  auto const mebibytes = [&info](char const* key) { return info[key].get<double>() / (1 << 20); };
  line("version", fmt::format("{}, oneTBB {}", text("version"), text("tbb")));
  line("cpu", fmt::format("{}, {} cores, L2 {:.4g} MiB, L3 {:.4g} MiB", text("cpu"), info["cores"].get<int>(),
                          mebibytes("l2_bytes"), mebibytes("l3_bytes")));
  line("memory", fmt::format("{:.0f} MiB, {:.0f} MiB free", mebibytes("memory_bytes"), mebibytes("free_bytes")));
  line("threads", fmt::format("{}", info["threads"].get<int>()));
  line("profile", info["profile"]["source"].get<std::string>());
  for (char const* type : {"f64", "f32"}) {
    for (auto const& set : info["kernels"][type]) {
      auto const size = [&set](char const* key) { return set[key].get<int>(); };
      std::string const name = fmt::format("{} {:<9}", type, set["name"].get<std::string>());
      if (!set["available"].get<bool>()) {
        line("kernel", name + "not on this processor");
        continue;
      }
      line("kernel", fmt::format("{}{}x{} tiles, blocks {} x {} x {}{}", name, size("mr"), size("nr"), size("mc"),
                                 size("kc"), size("nc"), set["chosen"].get<bool>() ? ", chosen" : ""));
    }
  }
  for (auto const& x : info["algorithms"]) {
    auto const size = [&x](char const* key) { return x[key].get<int>(); };
    line("algorithm", fmt::format("{:<18}<{},{},{};{}> {} additions, stability {:g}: {}", x["name"].get<std::string>(),
                                  size("m"), size("k"), size("n"), size("rank"), size("additions"),
                                  x["stability_factor"].get<double>(), shortened(x["source"].get<std::string>())));
  }
}

}  // namespace

void add_info_command(CLI::App& app) {
  auto const json = std::make_shared<bool>(false);
  auto* const command = app.add_subcommand("info", "Version, processor, kernel sets, algorithms, profile");
  command->add_flag("--json", *json, "print JSON");
  command->callback([json] {
    nlohmann::json const info = collect();
    if (*json) print_json(info);
    else print(info);
  });
}

}  // namespace heptad::tools
