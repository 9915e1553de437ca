// SPDX-License-Identifier: BSD-3-Clause
// Chooses how a product of matrices in host memory is cut for a device: every tiling that fits is run on paper with
// the rates of the link and of the products, and the fastest is taken. Pure; needs no device.
#pragma once

#include <cstddef>
#include <string>

#include "src/plan/device_profile.hpp"
#include "tasks/transfer_plan.hpp"

namespace heptad::cuda {

/// How the operands travel.
struct transfer_means {
  std::size_t device_memory = 0;  // bytes, for slots and workspace
  bool pinned = true;             // all operands: the device copies them itself
  int copy_threads = 1;           // otherwise so many copy them to and from pinned memory

  friend bool operator==(transfer_means const&, transfer_means const&) = default;
};

/// `shape` with a column-major C and positive extents. Throws error{out_of_memory} when not even the smallest blocks
/// fit into `device_memory`, and error{invalid_argument} as choose_device_plan does.
transfer_plan choose_transfer_plan(element_type type, problem const& shape, transfer_means const& means,
                                   device_profile const& device, options const& wishes);

/// One line: the levels of a block, how many blocks are multiplied, of which size.
std::string describe_blocks(plan const& of_block, std::size_t products, bool resident);

}  // namespace heptad::cuda
