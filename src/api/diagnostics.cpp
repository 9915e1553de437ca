// SPDX-License-Identifier: BSD-3-Clause
// One line and one file a call, on request.
#include "src/api/diagnostics.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <mutex>
#include <string>

namespace heptad {
namespace {

std::string title(graph const& g) {
  return fmt::format("{} m={} n={} k={}", g.type == element_type::f64 ? "dgemm" : "sgemm", g.m, g.n, g.k);
}

}  // namespace

void print_line(environment const& env, report const& r) {
  if (!env.verbose) return;
  problem const& x = r.plan.shape;
  fmt::print(stderr,
             "heptad: {} m={} n={} k={} {} workers={} tasks={} workspace={:.1f}MiB seconds={:.6f} gflops={:.1f} "
             "idle={:.1f}%{}: {}\n",
             r.plan.type == element_type::f64 ? "dgemm" : "sgemm", x.m, x.n, x.k, describe_levels(r.plan),
             r.plan.workers, r.tasks, static_cast<double>(r.workspace) / (1 << 20), r.seconds, r.gflops,
             100 * r.idle_fraction, r.fell_back ? " fell back (no memory)" : "", r.plan.reason);
}

void write_trace(environment const& env, graph const& g, run_result const& ran) {
  std::string const& path = env.trace;
  if (path.empty()) return;
  static std::mutex one_writer;
  std::lock_guard const lock(one_writer);
  std::ofstream file(path, std::ios::trunc);
  file << to_trace(g, ran, title(g));
  file.close();
  if (!file) fmt::print(stderr, "heptad: HEPTAD_TRACE = '{}' could not be written\n", path);
}

}  // namespace heptad
