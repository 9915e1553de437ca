// SPDX-License-Identifier: BSD-3-Clause
// Plans for devices of a task runtime: C in large blocks, cut by a classical task level; every product is one call on
// one device, with levels of its own inside. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <heptad/cuda.hpp>

#include "src/plan/device_profile.hpp"

namespace heptad {

/// Devices in a grid as square as it can be, over the blocks of C in turn.
struct device_grid {
  int rows = 1, cols = 1;
  explicit device_grid(int devices);
  [[nodiscard]] int owner(std::int64_t i, std::int64_t j) const { return static_cast<int>(i % rows * cols + j % cols); }
};

/// How C, A and B are cut: blocks in every dimension, below `above` levels of Winograd.
struct block_counts {
  int m = 1, k = 1, n = 1, above = 0;
  [[nodiscard]] int products() const noexcept { return (above > 0 ? 7 : 1) * m * k * n; }
  friend bool operator==(block_counts const&, block_counts const&) = default;
};

/// Blocks of at most this size; above: 0 or 1.
block_counts counts_for(std::int64_t block, problem const& shape, int above);

/// The task levels of that, without anything inside the products. The owners of C begin each at another part of k: at
/// first no two of them want the same block of an operand, and later most find theirs on another device, not in main
/// memory alone.
plan plan_in_blocks(element_type type, problem const& shape, block_counts const& counts, int devices);

/// The problem of one product of such a plan.
problem product_of(plan const& in_blocks, block_counts const& counts);

/// A plan all of whose tasks run on devices, and how many levels of Winograd they may have inside a product: its bound
/// and growth hold for both.
struct device_task_plan {
  plan how;
  int levels = 0;
};

/// No block of a plan for devices is larger: the last block of C would leave too late.
inline constexpr std::int64_t largest_block = 16384;

/// Nothing where the CPU's plan serves better or is asked for: the product is small, deterministic, or has its levels
/// set. Blocks are as large as they can be while every device has two products.
std::optional<device_task_plan> plan_for_devices(element_type type, problem const& shape, int devices,
                                                 options const& wishes);

}  // namespace heptad
