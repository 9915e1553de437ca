// SPDX-License-Identifier: BSD-3-Clause
// How long the tasks of a plan take on this machine, for dry runs.
#pragma once

#include <vector>

#include <heptad/heptad.hpp>

#include "src/api/prepare.hpp"

namespace heptad::tools {

/// Seconds of every task of the prepared graph, in the second of two runs on one worker with random A and B. Throws
/// error{out_of_memory} where these do not fit.
template <typename T>
std::vector<double> time_tasks(workspace const& memory);

}  // namespace heptad::tools
