// SPDX-License-Identifier: BSD-3-Clause
// Measures what the planner knows of this machine: `heptad calibrate`.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "src/plan/profile.hpp"

namespace heptad {

/// fraction ∈ [0, 1] of the work done, and what is measured next.
using calibration_progress = std::function<void(double fraction, std::string const& what)>;

/// The two clocks of the measurements, in seconds: of the calling thread, and of the wall.
struct calibration_clocks {
  std::function<double()> thread, wall;
};

struct calibration_settings {
  calibration_progress progress;
  std::string kernel = "auto";                              ///< a kernel set, or the best
  std::vector<int> sides{8, 32, 96, 256, 512, 1024, 2048};  ///< of the measured products, ascending
  std::vector<int> fused_sizes{128, 256, 512, 1024, 2048};  ///< of the operands of fused levels
  std::vector<int> level_sizes{256, 512};                   ///< of blocks, for passes over few and many of them
  double largest_pass = 0;                                  ///< bytes of the largest pass; 0: beyond every cache
  calibration_clocks clocks;                                ///< empty: those of the system
};

/// A measured profile of this machine. Blocking, about four minutes; uses all the cores that the process may use and
/// at most an eighth of the memory. Lower quartiles of turns over all that time (see undisturbed); of
/// passes by all cores at once medians. Throws
/// error{invalid_argument} when the kernel set is unknown or cannot run here, error{out_of_memory}.
machine_profile calibrate(calibration_settings const& settings = {});

}  // namespace heptad
