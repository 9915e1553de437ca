// SPDX-License-Identifier: BSD-3-Clause
// Tests that need more than a device: where it is not there they end at once, and are no success.
#pragma once

#include <cstddef>
#include <cstdio>

namespace heptad::test {

inline std::size_t skipped = 0;  // cases

inline void skip(char const* why) {
  std::printf("skipped: %s\n", why);
  ++skipped;
}

}  // namespace heptad::test
