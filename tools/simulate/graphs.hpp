// SPDX-License-Identifier: BSD-3-Clause
// The graphs that `heptad simulate` compares on a node with devices: C in blocks, cut by a classical task level, with
// or without a task level of Winograd above; every product is one call on one device.
#pragma once

#include <string>
#include <vector>

#include <heptad/heptad.hpp>

#include "src/plan/device_profile.hpp"
#include "tasks/graph.hpp"

namespace heptad::tools {

struct device_graph {
  std::string description;
  bool fast = false;   // some level is not classical
  bool owned = false;  // every task is a product that adds to a block of C: see owner_of_block, finish_in_turn
  plan how;            // levels, all of them tasks
  std::string inside;  // the stages of a product on a device
};

/// What a task takes on a device: passes by the bandwidth of its memory, products by the plan that the device planner
/// makes for them, with at most `workspace` bytes; classical: cuBLAS alone.
class device_seconds {
public:
  device_seconds(graph const& g, cuda::device_profile device, std::size_t workspace, bool classical)
      : g_(g), device_(std::move(device)), workspace_(workspace), classical_(classical) {}
  [[nodiscard]] double operator()(task const& t) const;

private:
  graph const& g_;
  cuda::device_profile const device_;
  std::size_t const workspace_;
  bool const classical_;
};

cuda::plan plan_of_product(element_type type, problem const& shape, std::size_t workspace, bool classical,
                           cuda::device_profile const& device);

/// Blocks from 4096 to 32768; at least two products a device, and at most two thousand. workspace: of a product on a
/// device, bytes.
std::vector<device_graph> device_graphs(element_type type, problem const& shape, int devices, std::size_t workspace,
                                        cuda::device_profile const& device);

/// The device where the block of C lives that a product adds to: such blocks never move before they are final.
int owner_of_block(task const& t, int devices);

/// Half of the products of every block of C come in rounds over all blocks: a block of A or B that has arrived serves
/// many of them, and the devices can work while the rest arrives. The other half comes block by block, so that results
/// leave while there is still work. The order within a block stays.
void finish_in_turn(graph& g);

}  // namespace heptad::tools
