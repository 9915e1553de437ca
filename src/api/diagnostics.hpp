// SPDX-License-Identifier: BSD-3-Clause
// What HEPTAD_VERBOSE and HEPTAD_TRACE show of a call.
#pragma once

#include <string>

#include <heptad/heptad.hpp>

#include "schedulers/scheduler.hpp"
#include "src/api/environment.hpp"

namespace heptad {

/// "winograd (tasks), winograd (fused)", outermost first; or "classical".
std::string describe_levels(plan const& how);

/// One line on stderr, when `env` asks for it.
void print_line(environment const& env, report const& r) noexcept;

/// Adds the call to the file that `env` names, if any, which the first call of the process replaces; the file is
/// complete JSON after every call. A failure is one line on stderr.
void write_trace(environment const& env, graph const& g, run_result const& ran) noexcept;

}  // namespace heptad
