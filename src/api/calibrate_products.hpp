// SPDX-License-Identifier: BSD-3-Clause
// The part of a calibration that measures products: plain ones, and those of fused levels.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "src/api/calibrate.hpp"
#include "src/api/measuring.hpp"
#include "src/plan/profile.hpp"

namespace heptad {

/// Plain products and fused levels of one type, a turn at a time, on the calling thread. settings.clocks are set; the
/// settings live as long as the bench.
template <typename T>
class rates_bench {
public:
  rates_bench(calibration_settings const& settings, std::string kernel);
  ~rates_bench();

  /// Steps of progress that a turn takes.
  [[nodiscard]] int steps() const;
  /// Holds the memory that it works on until it returns. Throws error{out_of_memory}.
  void turn(progress_steps& progress);
  /// Of all turns, at least one.
  [[nodiscard]] rate_table rates() const;

private:
  struct samples;
  calibration_settings const& settings_;
  std::string const kernel_;
  std::vector<int> const sizes_;  // of the operands of fused levels
  std::unique_ptr<samples> const samples_;
};

/// Whole explicit levels beside the products of their blocks, in the same way.
class widths_bench {
public:
  widths_bench(calibration_settings const& settings, std::string kernel);

  /// One step of progress.
  void turn(progress_steps& progress);
  /// Against what the passes of the profile say.
  [[nodiscard]] std::vector<pass_width> widths(machine_profile const& machine) const;

private:
  calibration_settings const& settings_;
  std::string const kernel_;
  std::vector<std::vector<double>> within_, alone_;  // seconds of every level and size
};

}  // namespace heptad
