// SPDX-License-Identifier: BSD-3-Clause
// Finds the BLAS libraries of this machine and the settings with which each is fastest on this processor.
#pragma once

#include <array>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/bench/worker_process.hpp"

namespace heptad::bench {

/// In the order in which they are looked for.
inline constexpr std::array<std::string_view, 3> peer_names{"mkl", "openblas", "blis"};

struct found_peer {
  contestant who;  ///< with the fastest settings
  library_info info;
  nlohmann::json tried;  ///< [{settings, core, gflops}]: every setting that was tried
};

/// names: "auto" for all, "none", or some of peer_names, each optionally with "=path". Named peers that cannot
/// be loaded throw std::runtime_error; with "auto" they are left out, and `say` is told why.
std::vector<found_peer> find_peers(std::vector<std::string> const& names, std::function<void(std::string const&)> say);

/// The library that tells MKL that this is an Intel processor: beside the program, or where it is installed with it.
std::optional<std::filesystem::path> find_mkl_preload(std::filesystem::path const& program);

}  // namespace heptad::bench
