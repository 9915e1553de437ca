// SPDX-License-Identifier: BSD-3-Clause
// What a calibration asks of a device's memory, and what recent calls have left.
#include <catch2/catch.hpp>
#include <string>

#include "src/api/cuda/calibration_room.hpp"
#include "src/api/cuda/recent.hpp"

using namespace heptad;
using Catch::Contains;

TEST_CASE("a calibration has room for what it measures on every device, or is refused with the bytes that it needs") {
  constexpr std::size_t megabyte = 1'000'000, largest = 3 * std::size_t{3008} * 3008 * sizeof(double);
  for (std::size_t const free : {218 * megabyte, 300 * megabyte, 650 * megabyte, 660 * megabyte, 80'000 * megabyte}) {
    INFO(free << " bytes are free");
    std::size_t const room = cuda::calibration_room(free);
    CHECK(room >= largest);
    CHECK(room <= free);
    CHECK(room % 4096 == 0);
  }
  CHECK(cuda::calibration_room(660 * megabyte) > cuda::calibration_room(650 * megabyte));
  CHECK(cuda::calibration_room(80'000 * megabyte) / megabyte == 6'499);
  for (std::size_t const free : {std::size_t{0}, 198 * megabyte, largest - 1})
    CHECK_THROWS_WITH(cuda::calibration_room(free),
                      Contains(std::to_string(cuda::least_room)) && Contains(std::to_string(free) + " are free"));
}

TEST_CASE("a recent value that holds no more is made again, once, and others stay") {
  cuda::recent<int, int, 2> known;
  int made = 0;
  auto const make = [&made] { return ++made; };
  CHECK(*known.get(1, make) == 1);
  CHECK(*known.get(2, make) == 2);
  auto const is_new = [](int value) { return value > 2; };
  CHECK(*known.get(1, make, is_new) == 3);
  CHECK(*known.get(1, make, is_new) == 3);
  CHECK(*known.get(2, make) == 2);
  CHECK(*known.get(1, make) == 3);
  CHECK(*known.get(3, make) == 4);
  CHECK(*known.get(2, make) == 5);  // the last two are known
}
