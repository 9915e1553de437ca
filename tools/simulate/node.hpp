// SPDX-License-Identifier: BSD-3-Clause
// The machines that `heptad simulate` knows, and the files that tell StarPU's simulation of them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace heptad::tools {

/// Rates in bytes a second, one way; latencies in seconds.
struct simulated_node {
  std::string name;
  int devices = 0;                          // CUDA devices that multiply; none: CPU cores do
  int cpus = 1;                             // CPU workers
  std::size_t device_memory = 0;            // of each device, bytes
  double to_device = 0, to_host = 0;        // between main memory and one device
  double to_devices = 0, from_devices = 0;  // … and all devices together
  double to_peer = 0;                       // out of one device, or into it
  double host_latency = 0, peer_latency = 0;
  std::string source;  // where these figures come from
};

/// "h200x1", "h200x4", "h200x8", or "cpuxN": N cores of this machine. Throws error{invalid_argument}.
simulated_node find_node(std::string const& name);

/// Writes the platform and the transfer rates as StarPU's simulation wants to find them in `folder` under the name of
/// the node. nodes: memory nodes that StarPU was built for. Throws error.
void write_platform(simulated_node const& node, std::filesystem::path const& folder, int nodes);

}  // namespace heptad::tools
