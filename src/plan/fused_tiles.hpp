// SPDX-License-Identifier: BSD-3-Clause
// The tiles of C that fused kernels are compiled for, and what follows from a tile for the work and the counters.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <heptad/heptad.hpp>

namespace heptad::cuda {

struct fused_tile {
  int m, n;

  /// Of a block of C.
  [[nodiscard]] constexpr std::int64_t count(std::int64_t rows, std::int64_t cols) const {
    return (rows + m - 1) / m * ((cols + n - 1) / n);
  }
};

inline constexpr std::array f32_tiles{fused_tile{256, 128}, fused_tile{128, 256}, fused_tile{128, 128}};
inline constexpr std::array f64_tiles{fused_tile{128, 64}, fused_tile{64, 64}, fused_tile{64, 64}};

/// By the numbers that plans and calls name them by.
constexpr std::span<fused_tile const> fused_tiles(element_type type) {
  return type == element_type::f64 ? std::span<fused_tile const>(f64_tiles) : std::span<fused_tile const>(f32_tiles);
}

/// Counters of ordered launches whose targets have block numbers below `blocks`: the ticket, and a turn for each tile.
constexpr std::size_t fused_counters(fused_tile const& tile, std::int64_t blocks, std::int64_t rows,
                                     std::int64_t cols) {
  return 1 + static_cast<std::size_t>(blocks * tile.count(rows, cols));
}

}  // namespace heptad::cuda
