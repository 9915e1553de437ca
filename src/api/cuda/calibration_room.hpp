// SPDX-License-Identifier: BSD-3-Clause
// The device memory in which a device is measured. Some measurements have one size on every device, and least_room is
// what the largest of them takes; the others are made where they fit.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <heptad/heptad.hpp>

namespace heptad::cuda {

/// Of the operands of `count` products m × n × k.
template <typename T>
constexpr std::size_t product_bytes(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t count = 1) {
  return static_cast<std::size_t>((m * k + k * n + m * n) * count) * sizeof(T);
}

constexpr std::int64_t aligned_side = 3008, odd_side = 3001;   // with and without aligned columns
constexpr std::int64_t thin_side = 2048, deepest_thin = 2048;  // where larger ones do not fit
constexpr std::int64_t side_beside = 2048;                     // of float products, beside which lines travel
constexpr std::size_t line_bytes = 4096, line_pitch = 16 * line_bytes;

constexpr std::size_t least_room =
    (product_bytes<double>(aligned_side, aligned_side, aligned_side) + 4095) / 4096 * 4096;
static_assert(least_room >= product_bytes<double>(odd_side, odd_side, odd_side));
static_assert(least_room >= product_bytes<double>(thin_side, thin_side, deepest_thin));
static_assert(least_room >= product_bytes<float>(side_beside, side_beside, side_beside) + line_pitch);

/// Bytes: a third of those that are free, at most 6.5 GB (16384 in FP64), at least least_room.
/// Throws error{out_of_memory} when that is not free.
inline std::size_t calibration_room(std::size_t free) {
  if (free < least_room)
    throw error(heptad::status::out_of_memory,
                fmt::format("calibration needs {} bytes of device memory; {} are free", least_room, free));
  return std::clamp(free / 3, least_room, std::size_t{6'500'000'000}) / 4096 * 4096;
}

}  // namespace heptad::cuda
