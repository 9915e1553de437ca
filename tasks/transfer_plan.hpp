// SPDX-License-Identifier: BSD-3-Clause
// A product of matrices in host memory, settled: the schedule of its blocks and the plan of every product of blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <heptad/cuda.hpp>

#include "tasks/block.hpp"
#include "tasks/transfer_schedule.hpp"

namespace heptad::cuda {

struct transfer_plan {
  transfer_schedule work;
  element_type type = element_type::f64;
  problem full;                // a full block: extents and layouts
  std::vector<plan> products;  // of each shape of block that the schedule multiplies; the first is a full one
  transfer_forecast forecast;
  std::size_t block_bytes = 0;      // of all slots
  std::size_t workspace_bytes = 0;  // predicted
  bool resident = false;            // every block of A and B is sent once
  bool overwrites = false;          // beta = 0: C is only written
  std::string reason;
};

/// How a block lies in its slot: lines a multiple of 128 bytes apart.
struct slot_layout {
  std::int64_t ld = 1;    // elements
  std::size_t bytes = 0;  // a multiple of device_alignment
};
constexpr slot_layout layout_of_slot(std::int64_t rows, std::int64_t cols, bool row_major, element_type type) noexcept {
  auto const round_up = [](std::int64_t value, std::int64_t step) { return (value + step - 1) / step * step; };
  std::int64_t const element = type == element_type::f64 ? 8 : 4;
  std::int64_t const ld = round_up(row_major ? cols : rows, 128 / element);
  return {ld, static_cast<std::size_t>(round_up(ld * (row_major ? rows : cols) * element, device_alignment))};
}

}  // namespace heptad::cuda
