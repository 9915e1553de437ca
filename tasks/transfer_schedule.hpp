// SPDX-License-Identifier: BSD-3-Clause
// One product whose operands are in another memory than its device: which blocks travel into which slots of device
// memory, and when. C stays until it is finished (classical blocking); what is read again soonest stays in its slot
// (Belady 1966). Plain data: the same list is run on a device, simulated, or run on paper by the tests.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include <heptad/heptad.hpp>

namespace heptad {

/// The order in which the blocks of C are computed.
enum class block_walk {
  rows,     // row by row, forth and back: a row of blocks of A is read once
  columns,  // column by column: a column of blocks of B is read once
  shells,   // ever larger squares: the most products for the blocks that have arrived, where all of them may stay
};

/// How the operands are cut: blocks of at most m × k, k × n and m × n elements.
struct transfer_tiling {
  std::int64_t m = 0, n = 0, k = 0;
  block_walk walk = block_walk::rows;
  int slots_A = 2, slots_B = 2, slots_C = 2;  // blocks that may be on the device at a time

  friend bool operator==(transfer_tiling const&, transfer_tiling const&) = default;
};

enum class matrix_name { A, B, C };

/// A block of an operand, in elements.
struct block_position {
  matrix_name of = matrix_name::A;
  std::int64_t row = 0, col = 0, rows = 0, cols = 0;
};

struct load_block {
  block_position what;
  int slot = 0;
};
/// slot c (+)= alpha · slot a · slot b. `first`: of this block of C, so beta applies; otherwise it accumulates.
struct multiply_blocks {
  std::int64_t m = 0, n = 0, k = 0;
  int a = 0, b = 0, c = 0;
  bool first = false;
};
struct store_block {
  block_position what;
  int slot = 0;
};
using transfer_step = std::variant<load_block, multiply_blocks, store_block>;

/// In the order in which the steps are queued; each kind runs in that order. A load must wait until the slot's last
/// product (of C: its last store) is done, a product for the loads of its slots, a store for the products before it.
struct transfer_schedule {
  transfer_tiling blocks;
  std::vector<transfer_step> steps;
  std::size_t products = 0;
  std::int64_t loaded = 0, stored = 0;  // elements
};

/// Pure. The extents of `shape` must be positive. Blocks of C are loaded only when !beta_zero.
/// Throws error{invalid_argument} when a tiling has an extent or slots below 1.
transfer_schedule build_transfer_schedule(problem const& shape, transfer_tiling const& blocks);

/// Seconds of each step, given which one it is.
struct engine_times {
  double load_rate = 1, store_rate = 1;  // elements per second
  double step_seconds = 0;               // besides, for each transfer
  double product_rate = 1;               // multiply-adds per second
  bool one_copier = false;               // loads and stores take their time from one host thread
  // A line of a block, along its contiguous dimension, takes this and three quarters of the time of its elements when
  // that is longer: short lines do not fill the link.
  double line_seconds = 0;
  std::array<bool, 3> row_major{};  // A, B, C
};
/// When each of three engines (loads, products, stores) is busy in a run of the schedule on paper.
struct transfer_forecast {
  double seconds = 0, load_seconds = 0, product_seconds = 0, store_seconds = 0;
};
transfer_forecast simulate_transfers(transfer_schedule const& work, engine_times const& rates);

/// A stretch of time.
struct interval {
  double begin = 0, end = 0;
};
/// The share of the time in which one of `x` is under way that one of `y` is too; 1 when x is empty.
double covered_share(std::vector<interval> x, std::vector<interval> y);

}  // namespace heptad
