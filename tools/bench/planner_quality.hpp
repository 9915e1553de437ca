// SPDX-License-Identifier: BSD-3-Clause
// How good the planner is: over a grid of shapes, the chosen plan against others around it, all measured on the same
// operands in turns, and the predicted times against the measured ones.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/bench/gemm_case.hpp"
#include "tools/bench/measure.hpp"

namespace heptad::bench {

/// 200 cases: square, rank-k, panels, tall, odd and ratios of three; one thread and two, double and single.
std::vector<gemm_case> planner_grid();

struct quality_effort {
  std::size_t plans = 24;        ///< measured for each case, the chosen one included
  double plan_seconds = 0.1;     ///< for each plan, about
  double total_seconds = 1e9;    ///< no case is begun after so long
  std::int64_t yardstick = 768;  ///< size of the classical product that tells how fast the machine is
};

/// One entry of "cases": the case and its plans, the chosen one first, each with its choices, its predicted seconds
/// and the measured ones, freed of the machine's drift (steady_times). "machine_slower": the time of the
/// yardstick in the same turns over what the profile says. "leader": the plan with the least time;
/// "chosen_behind": how much longer than it the chosen one takes, as a fraction, in further calls of these two alone (0
/// if it does not).
nlohmann::json measure_plans(gemm_case const& what, quality_effort const& how);

/// The case of such an entry.
gemm_case case_of(nlohmann::json const& entry);

/// The recorded plans with the seconds that the present model and profile predict for them. How fast the machine was
/// beside the profile of then is dropped.
void predict_again(nlohmann::json& record);

/// Figures over all cases of a record: chosen over best ("chosen_behind" where a record has it, else over the least
/// time), chosen over the least time, predicted over measured.
nlohmann::json summarize(nlohmann::json const& record);

}  // namespace heptad::bench
