// SPDX-License-Identifier: BSD-3-Clause
// A plan as JSON, for `--json` and the recorded benchmarks.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <heptad/cuda.hpp>
#include <heptad/heptad.hpp>

namespace heptad {

nlohmann::json plan_to_json(plan const& how);
nlohmann::json plan_to_json(cuda::plan const& how);

}  // namespace heptad
