// SPDX-License-Identifier: BSD-3-Clause
// The serial sequence of one product on one device: the core by the stages of a plan, then the classical fringes. What
// a stream runs in order.
#pragma once

#include <heptad/cuda.hpp>

#include "tasks/steps.hpp"

namespace heptad {

struct device_sequence {
  sequence body;                            // spaces are the caller's operands and the buffers
  std::vector<additions_program> programs;  // of its combine steps
  std::size_t core_steps = 0;               // steps before those of the fringes
  std::size_t fused_products = 0;           // of each fused level; every product of the core is then one of a level
};

/// Pure. The products carry coefficients without the caller's alpha. `scaled` updates carry the caller's beta.
/// k = 0 or no stage: one step. Throws error{internal_error} when the stages do not divide the core.
device_sequence build_device_sequence(cuda::plan const& how);

}  // namespace heptad
