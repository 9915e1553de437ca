// SPDX-License-Identifier: BSD-3-Clause
// What HEPTAD_VERBOSE and HEPTAD_TRACE show of a call.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string>

#include <heptad/heptad.hpp>

#include "schedulers/scheduler.hpp"
#include "src/api/environment.hpp"

namespace heptad {

/// "winograd (tasks), winograd (fused)", outermost first; or "classical".
std::string describe_levels(plan const& how);

/// One line on stderr, when `env` asks for it.
void print_line(environment const& env, report const& r) noexcept;

/// A run of a call, kept for the trace.
struct kept_run {
  std::shared_ptr<graph const> work;
  run_result ran;
  std::chrono::steady_clock::time_point begin;
  bool looks, opened;  // see traced_run
};

/// Adds the call to the file that `env` names, if any, which the first call of the process replaces; the file is
/// complete JSON after every call. A failure is one line on stderr.
void write_trace(environment const& env, std::span<kept_run const> runs) noexcept;

}  // namespace heptad
