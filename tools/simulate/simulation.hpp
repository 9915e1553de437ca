// SPDX-License-Identifier: BSD-3-Clause
// One graph on StarPU's simulation of a node.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "schedulers/starpu/graph_run.hpp"
#include "tools/simulate/node.hpp"

namespace heptad::tools {

struct simulated_run {
  double seconds = 0;        // until C is in main memory again
  std::vector<double> idle;  // of every worker, as a fraction of that
  double bytes_to_devices = 0, bytes_to_host = 0, bytes_between_devices = 0;
  std::size_t tasks = 0;
};

/// Memory nodes that StarPU was built for.
int simulated_memory_nodes();

/// A, B and C begin in main memory, and the workspace too unless the graph is in cells. Once in a process, whose
/// environment says where the files of the node are. Throws error{internal_error}.
simulated_run simulate_on(simulated_node const& node, std::string const& policy, graph const& g,
                          starpu::run_options const& how, double beta);

}  // namespace heptad::tools
