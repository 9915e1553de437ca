// SPDX-License-Identifier: BSD-3-Clause
// What the measurements of a calibration share: how a run is timed, the memory that it works on, how far all is.
#pragma once

#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <heptad/heptad.hpp>

#include "src/api/calibrate.hpp"
#include "src/api/memory.hpp"
#include "src/api/undisturbed.hpp"

namespace heptad {

/// Undisturbed seconds of one run, of this thread; in groups of at least a millisecond, for about `budget` seconds of
/// wall clock and three groups. A run that takes longer than the budget is measured once.
template <typename Run>
double seconds_of(calibration_clocks const& clocks, Run const& run, double budget) {
  run();
  double const first = clocks.thread();
  run();
  double const one = std::max(clocks.thread() - first, 1e-9);
  if (one > budget) return one;
  int const group = std::max(1, static_cast<int>(1e-3 / one));
  std::vector<double> samples;
  double const end = clocks.wall() + budget;
  while (samples.size() < 3 || clocks.wall() < end) {
    double const start = clocks.thread();
    for (int i = 0; i < group; ++i) run();
    samples.push_back((clocks.thread() - start) / group);
  }
  return std::max(undisturbed(std::move(samples)), 1e-9);
}

/// A leased block filled with values of ordinary size, so that no sum is denormal and every page is mapped.
template <typename T>
class filled_memory {
public:
  explicit filled_memory(double elements) : lease_(pool_.take(static_cast<std::size_t>(elements) * sizeof(T))) {
    if (!lease_)
      throw error(status::out_of_memory,
                  fmt::format("calibrate: no memory for {:.0f} MB", elements * double(sizeof(T)) / 1e6));
    auto const count = static_cast<std::size_t>(elements);
    for (std::size_t i = 0; i < count; ++i)
      if constexpr (std::is_floating_point_v<T>) data()[i] = static_cast<T>(static_cast<int>(i % 251) - 125) / T(128);
      else data()[i] = T{};
  }
  [[nodiscard]] T* data() const { return reinterpret_cast<T*>(lease_.data()); }

private:
  memory_pool pool_;
  memory_pool::lease lease_;
};

/// Says how far it is; steps are given their share of the whole when they begin.
class progress_steps {
public:
  progress_steps(calibration_progress const& report, int steps) : report_(report), steps_(steps) {}
  void next(std::string const& what) {
    if (report_) report_(std::min(1.0, double(done_) / steps_), what);
    ++done_;
  }

private:
  calibration_progress const& report_;
  int steps_, done_ = 0;
};

}  // namespace heptad
