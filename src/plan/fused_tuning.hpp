// SPDX-License-Identifier: BSD-3-Clause
// Which of the compiled tiles of the fused kernels a device should try at some size: a search that is pruned at three
// levels before anything runs (after Algorithm 1 of "Optimizing the Matrix Multiply Using Strassen and Winograd
// Algorithms with Limited Recursions on Many Core"). Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "src/plan/fused_tiles.hpp"

namespace heptad::cuda {

/// What a block of the kernel of a tile takes.
struct tile_needs {
  int threads = 0, registers = 0;  // registers: of a thread
  std::int64_t shared_bytes = 0;
  bool tensor = false;  // FP64 tensor cores: compute capability 8.0
};

/// Of one multiprocessor.
struct device_limits {
  int capability = 0;  // major
  int multiprocessors = 1;
  int threads = 0, registers = 0;
  std::int64_t shared_bytes = 0;
};

/// Blocks of a kernel that one multiprocessor runs at a time; 0: none.
int active_blocks(tile_needs const& needs, device_limits const& device);

/// Numbers of the tiles to measure for `products` products of size³; `needs` belong to `tiles`, one by one.
/// 1. Tiles that the device cannot run are left out;
/// 2. so are those that leave its multiprocessors idle, or compute beyond C, much more than the best one does;
/// 3. and those that read more of A and B for a product than another that loses no more.
std::vector<int> tiles_to_measure(std::span<fused_tile const> tiles, std::span<tile_needs const> needs,
                                  device_limits const& device, std::int64_t size, int products);

}  // namespace heptad::cuda
