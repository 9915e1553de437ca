// SPDX-License-Identifier: BSD-3-Clause
// One line a call and one file a process, on request. The product is done by then: without memory there is neither.
#include "src/api/diagnostics.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "src/process/fork_safe.hpp"

namespace heptad {
namespace {

std::string title(graph const& g) {
  return fmt::format("{} m={} n={} k={}", g.type == element_type::f64 ? "dgemm" : "sgemm", g.m, g.n, g.k);
}

constinit std::mutex one_writer;
fork_safe<one_writer> const in_forks;

}  // namespace

void print_line(environment const& env, report const& r) noexcept try {
  if (!env.verbose) return;
  problem const& x = r.plan.shape;
  fmt::print(stderr,
             "heptad: {} m={} n={} k={} {} workers={} tasks={} workspace={:.1f}MiB seconds={:.6f} gflops={:.1f} "
             "idle={:.1f}% bound={:.3g}{}: {}\n",
             r.plan.type == element_type::f64 ? "dgemm" : "sgemm", x.m, x.n, x.k, describe_levels(r.plan),
             r.plan.workers, r.tasks, static_cast<double>(r.workspace) / (1 << 20), r.seconds, r.gflops,
             100 * r.idle_fraction, r.plan.bound, r.fell_back ? " fell back (no memory)" : "", r.plan.reason);
} catch (std::exception const&) {
}

void write_trace(environment const& env, std::span<kept_run const> runs) noexcept try {
  if (env.trace.empty() || runs.empty()) return;
  std::lock_guard const lock(one_writer);
  static auto& file = *new std::ofstream(env.trace, std::ios::trunc);  // exit handlers may still multiply
  static auto const start = runs.front().begin;
  static int calls = 0;
  std::vector<traced_run> traced;
  for (kept_run const& x : runs) {
    double const begin = std::chrono::duration<double>(x.begin - start).count();
    traced.push_back({*x.work, x.ran, begin, x.looks, x.opened});
  }
  std::string const events = to_trace_events(traced, title(*runs.back().work), calls + 1);
  // The array is closed after every call, and opened again by the next one.
  constexpr std::string_view closed = "\n]\n";
  if (calls++ == 0) file << "[\n";
  else file.seekp(-static_cast<std::streamoff>(closed.size()), std::ios::end) << ",\n";
  file << events << closed << std::flush;
  if (!file) fmt::print(stderr, "heptad: HEPTAD_TRACE = '{}' could not be written\n", env.trace);
} catch (std::exception const&) {
}

}  // namespace heptad
