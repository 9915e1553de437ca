// SPDX-License-Identifier: BSD-3-Clause
// The worker process: holds one library and its operands, and computes only when the bench says so.
#pragma once

#include <string>

#include "tools/bench/library.hpp"

namespace heptad::bench {

struct worker_options {
  std::string library;  ///< "heptad", "mkl", "openblas" or "blis"
  std::string path;     ///< of a peer's shared object; empty: the usual place
  int threads = 1;
  int channel = -1;  ///< the descriptor of the socket to the bench
  own_options own;
};

/// Serves until the bench closes the channel; the requests are in worker.cpp. Failures are answers.
void serve(worker_options const& wishes);

}  // namespace heptad::bench
