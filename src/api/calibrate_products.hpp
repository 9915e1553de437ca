// SPDX-License-Identifier: BSD-3-Clause
// The part of a calibration that measures products: plain ones, and those of fused levels.
#pragma once

#include <string>

#include "src/api/calibrate.hpp"
#include "src/api/measuring.hpp"
#include "src/plan/profile.hpp"

namespace heptad {

/// Steps of progress that measure_rates takes for both types.
int product_steps(calibration_settings const& settings);

/// settings.clocks are set. On the calling thread.
template <typename T>
rate_table measure_rates(calibration_settings const& settings, std::string const& kernel, progress_steps& progress);

/// Whole explicit levels against what the passes of the profile say. One step of progress.
std::vector<pass_width> measure_widths(calibration_settings const& settings, machine_profile const& machine,
                                       progress_steps& progress);

}  // namespace heptad
