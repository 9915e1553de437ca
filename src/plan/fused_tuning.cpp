// SPDX-License-Identifier: BSD-3-Clause
#include "src/plan/fused_tuning.hpp"

#include <algorithm>

namespace heptad::cuda {
namespace {

/// What is weighed of a tile that can run.
struct prospect {
  int number;
  double used;   // share of the multiprocessors' time that computes elements of C, if they did nothing but compute
  double reads;  // elements of A and B for an element of C and a step of k
};

}  // namespace

int active_blocks(tile_needs const& needs, device_limits const& device) {
  if (needs.threads == 0 || (needs.tensor && device.capability < 8)) return 0;
  // A multiprocessor has four parts, and gives registers to warps in pieces of 256.
  int const warps = (needs.threads + 31) / 32, of_a_warp = (needs.registers * 32 + 255) / 256 * 256;
  int const by_registers = device.registers / 4 / std::max(of_a_warp, 1) * 4 / warps;
  int const by_shared = static_cast<int>(device.shared_bytes / std::max<std::int64_t>(needs.shared_bytes, 1));
  return std::min({device.threads / needs.threads, by_registers, by_shared});
}

std::vector<int> tiles_to_measure(std::span<fused_tile const> tiles, std::span<tile_needs const> needs,
                                  device_limits const& device, std::int64_t size, int products) {
  std::vector<prospect> left;
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    fused_tile const& tile = tiles[i];
    if (active_blocks(needs[i], device) == 0) continue;
    // Blocks that share a multiprocessor share its time.
    std::int64_t const n = device.multiprocessors, rounds = (products * tile.count(size, size) + n - 1) / n;
    double const room = double(rounds * n) * tile.m * tile.n;
    left.push_back(
        {static_cast<int>(i), double(products) * double(size) * double(size) / room, 1.0 / tile.m + 1.0 / tile.n});
  }
  constexpr double much = 0.75;
  double best = 0;
  for (prospect const& p : left) best = std::max(best, p.used);
  std::erase_if(left, [&](prospect const& p) { return p.used < much * best; });

  std::vector<int> numbers;
  for (prospect const& p : left)
    if (std::ranges::none_of(left, [&](prospect const& q) { return q.used >= p.used && q.reads < p.reads; }))
      numbers.push_back(p.number);
  return numbers;
}

}  // namespace heptad::cuda
