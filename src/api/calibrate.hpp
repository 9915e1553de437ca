// SPDX-License-Identifier: BSD-3-Clause
// Measures what the planner knows of this machine: `heptad calibrate`.
#pragma once

#include <functional>
#include <string>

#include "src/plan/profile.hpp"

namespace heptad {

/// fraction ∈ [0, 1] of the work done, and what is measured next.
using calibration_progress = std::function<void(double fraction, std::string const& what)>;

/// A measured profile of this machine with a kernel set ("auto": the best). Blocking, about half a minute; uses all the
/// cores that the process may use and at most an eighth of the memory. Medians, each of several runs.
/// Throws error{invalid_argument} when the kernel set is unknown or cannot run here, error{out_of_memory}.
machine_profile calibrate(calibration_progress const& progress = {}, std::string const& kernel = "auto");

}  // namespace heptad
