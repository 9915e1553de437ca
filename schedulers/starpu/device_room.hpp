// SPDX-License-Identifier: BSD-3-Clause
// What devices can hold. StarPU sends a task to a device whatever it touches, and where that is more than the device's
// memory, it tries to fetch it for ever.
#pragma once

#include <starpu.h>

#include <cstdint>

namespace heptad::starpu {

/// Bytes that one task may touch, by the kind of worker: what the smallest device has in all. What lies there already
/// may have to leave first, which StarPU sees to.
struct device_room {
  std::int64_t opencl, cuda;
  device_room();
  /// Of the kinds in `where` (STARPU_CPU | …) those that hold so much.
  [[nodiscard]] int kinds_with(std::int64_t bytes, int where) const;
};

}  // namespace heptad::starpu
