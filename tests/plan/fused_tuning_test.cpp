// SPDX-License-Identifier: BSD-3-Clause
// What is left of the tiles of the fused kernels before any is measured.
#include "src/plan/fused_tuning.hpp"

#include <catch2/catch.hpp>

using namespace heptad::cuda;

namespace {

/// A multiprocessor of compute capability 9.0.
constexpr device_limits large{9, 132, 2048, 65536, 233472};

constexpr std::array tiles{fused_tile{256, 128}, fused_tile{128, 256}, fused_tile{128, 128}};
constexpr std::array needs{tile_needs{256, 250, 25152, false}, tile_needs{256, 250, 25152, false},
                           tile_needs{256, 128, 16960, false}};

std::vector<int> measured(std::int64_t size, device_limits const& device = large,
                          std::span<tile_needs const> of = needs) {
  return tiles_to_measure(tiles, of, device, size, 7);
}

}  // namespace

TEST_CASE("blocks are limited by threads, registers and shared memory, whichever ends first") {
  CHECK(active_blocks({256, 128, 1024, false}, large) == 2);  // 8 warps of 4096 registers in each of two blocks
  CHECK(active_blocks({256, 129, 1024, false}, large) == 1);
  CHECK(active_blocks({256, 255, 1024, false}, large) == 1);
  CHECK(active_blocks({384, 176, 1024, false}, large) == 0);  // three warps on a quarter of the registers
  CHECK(active_blocks({1024, 16, 1024, false}, large) == 2);
  CHECK(active_blocks({128, 32, 100000, false}, large) == 2);
  CHECK(active_blocks({128, 32, 300000, false}, large) == 0);
}

TEST_CASE("a tile that does not fit on the device is not measured") {
  auto tight = large;
  tight.shared_bytes = 20000;
  CHECK(measured(8192, tight) == std::vector{2});
  tight.shared_bytes = 1000;
  CHECK(measured(8192, tight).empty());
}

TEST_CASE("tiles for FP64 tensor cores need a device that has them") {
  constexpr std::array two{fused_tile{64, 64}, fused_tile{64, 64}};
  constexpr std::array wants{tile_needs{128, 168, 17000, true}, tile_needs{128, 214, 17000, false}};
  auto old = large;
  old.capability = 7;
  CHECK(tiles_to_measure(two, wants, old, 2048, 7) == std::vector{1});
  CHECK(tiles_to_measure(two, wants, large, 2048, 7) == std::vector{0, 1});
}

TEST_CASE("large products are tried with the tiles that read least, small ones with those that keep the device busy") {
  CHECK(measured(8192) == std::vector{0, 1});
  CHECK(measured(512) == std::vector{2});  // 56 blocks of the larger ones for 132 multiprocessors
  auto few = large;
  few.multiprocessors = 14;
  CHECK(measured(512, few) == std::vector{0, 1});
}

TEST_CASE("tiles that compute far beyond C are left out") { CHECK(measured(129) == std::vector{2}); }
