// SPDX-License-Identifier: BSD-3-Clause
// What the mains of the device benches share.
#pragma once

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>

namespace heptad::bench {

/// What a program without a device to measure ends with, as scripts/gpu-evidence.sh does.
constexpr int nothing_measured = 77;

inline bool has_device() {
  int devices = 0;
  bool const some = cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0;
  if (!some) fmt::print(stderr, "no CUDA device: nothing measured\n");
  return some;
}

/// The options that the device benches share.
template <typename Arguments>
void add_case_options(CLI::App& app, Arguments& given, std::string const& types) {
  app.add_option("--types", given.types, types)->capture_default_str();
  app.add_option("--sizes", given.sizes, "of square matrices")->capture_default_str();
  app.add_option("--rounds", given.rounds)->check(CLI::PositiveNumber)->capture_default_str();
}

/// Those of matrices in host memory.
template <typename Arguments>
void add_host_options(CLI::App& app, Arguments& given) {
  app.add_option("--copy-threads", given.copy_threads)->check(CLI::PositiveNumber)->capture_default_str();
  app.add_flag("--pageable", given.pageable, "operands that are not pinned");
}

/// run(type, n) for every type, a letter, of every size in a list with commas.
template <typename Run>
void for_each_case(std::string const& sizes, std::string const& types, Run const& run) {
  for (auto const& size : CLI::detail::split(sizes, ','))
    for (char const type : types) run(type, std::int64_t{std::stoll(size)});
}

}  // namespace heptad::bench
