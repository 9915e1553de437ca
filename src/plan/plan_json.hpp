// SPDX-License-Identifier: BSD-3-Clause
// A plan as JSON, for `--json` and the recorded benchmarks.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <heptad/cuda.hpp>
#include <heptad/heptad.hpp>

namespace heptad {

nlohmann::json plan_to_json(plan const& how);
nlohmann::json plan_to_json(cuda::plan const& how);

/// Only what a plan chooses: levels, variant, slots, order and strips; and back, into a plan with nothing else set.
/// Throws heptad::error when an algorithm is not known, and nlohmann::json::exception when a field is missing.
nlohmann::json choices_to_json(plan const& how);
plan choices_from_json(nlohmann::json const& choices);

}  // namespace heptad
