// SPDX-License-Identifier: BSD-3-Clause
// Tasks of a graph as work on a stream: a pass is a combine, a product one call with the device's own plan.
#pragma once

#include <memory>

#include "schedulers/cuda/backend.hpp"

namespace heptad::cuda {

/// levels: of Winograd in a product, at most; 0: cuBLAS alone.
std::unique_ptr<stream_tasks> make_stream_tasks(graph const& g, int levels);

}  // namespace heptad::cuda
