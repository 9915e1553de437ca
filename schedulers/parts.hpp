// SPDX-License-Identifier: BSD-3-Clause
// The parts of one product on devices and on the CPU: a thread waits for each device, the caller works through the
// CPU's parts and through what devices could not compute. No flow graph, as nothing is left for one to order; no
// callback of a stream either, as CUDA calls none after an error.
#pragma once

#include <cstddef>
#include <span>

namespace heptad {

/// How a device leaves its part of C.
enum class part_end {
  done,
  untouched,  ///< it failed; what C was can be, or need not be, read again
  spoilt,     ///< it failed with C partly written
};

/// Computes parts, which are numbered. Both are blocking and may be called at the same time for different parts.
class part_work {
public:
  virtual ~part_work() = default;
  /// On a thread of the part's own, or on the calling one.
  virtual part_end on_device(std::size_t part) noexcept = 0;
  /// On the calling thread, one part at a time.
  virtual void on_cpu(std::size_t part) noexcept = 0;
};

/// Blocking. Starts a thread for each part of a device, which ends with the call; without parts of the CPU the caller
/// is one of these threads. The CPU's parts come first, then
/// those that devices left untouched. A device whose thread cannot be started leaves its part so.
void run_parts(std::span<std::size_t const> on_cpu, std::span<std::size_t const> on_devices, part_work& work);

}  // namespace heptad
