// SPDX-License-Identifier: BSD-3-Clause
// The measurement of one case: the workers take turns, so that what disturbs the machine meets all alike, and only
// one computes at a time. Every time is that of one call.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tools/bench/worker_process.hpp"

namespace heptad::bench {

struct effort {
  int rounds = 3;              ///< at least so many turns each
  double min_seconds = 0.3;    ///< at least so long in total for each library
  double turn_seconds = 0.05;  ///< one turn lasts at least so long: short calls are repeated within it
  double pause = 0.06;  ///< seconds before a turn when there are several threads: idle pools spin before they sleep
};

struct measured {
  std::string library;
  std::string failure;          ///< empty when all went well
  std::vector<double> seconds;  ///< of every timed call
  std::vector<double> idle;
  verdict check;
  nlohmann::json memory;     ///< bytes: {peak, operands}
  nlohmann::json last_call;  ///< Heptad's plan and its report

  [[nodiscard]] bool valid() const { return failure.empty() && check.passed() && !seconds.empty(); }
  [[nodiscard]] double median_seconds() const;
};

using progress = std::function<void(std::string const&)>;

/// One result per worker, in their order. A worker that fails or dies says so in its result and leaves the turns.
std::vector<measured> measure(gemm_case const& what, std::vector<worker_process>& workers, effort const& how,
                              progress const& say);

/// The fastest valid result but the first, which is Heptad's; null when there is none.
measured const* best_peer(std::vector<measured> const& results);
/// best_peer's time over Heptad's; empty when either is missing or invalid.
std::optional<double> ratio(std::vector<measured> const& results);

}  // namespace heptad::bench
