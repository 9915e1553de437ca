// SPDX-License-Identifier: BSD-3-Clause
// What the planner knows of the machine. Measured once by `heptad calibrate`, kept as JSON under the XDG cache
// directory, with defaults of a 2020s x86-64 server core when absent.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace heptad {

/// Rates of one element type with one kernel set.
struct rate_table {
  double product_gflops = 40;  // large classical product, one core
  double pack_gbytes = 20;     // operand sums read while packing, bytes read + written
  double fringe_gflops = 8;    // thin products: a side below 32
  /// Measured leaves: seconds of a cubic product of this size with one fused level and without, single core.
  struct leaf {
    int size;
    double classical_gflops;
    double fused_gflops;  // effective: 2 n³ / t
  };
  std::vector<leaf> leaves;
};

struct machine_profile {
  std::string cpu;      // model name
  std::string version;  // of Heptad and of this table's layout
  std::string kernel;   // set that was measured
  int cores = 1;
  std::size_t memory_bytes = 0;    // of the machine
  std::size_t l2_bytes = 1 << 20;  // per core
  std::size_t l3_bytes = 32 << 20;
  double pass_gbytes_l2 = 60;   // combine of 4 blocks into 4 (read + written bytes), one core, all in L2
  double pass_gbytes_l3 = 30;   // in L3
  double pass_gbytes = 20;      // in memory
  double pass_gbytes_all = 40;  // in memory, all cores together
  double update_gbytes = 25;    // C += …, in memory, one core
  double task_seconds = 2e-6;   // overhead of one task
  double call_seconds = 5e-6;   // of one call that uses all workers
  rate_table f32, f64;
  bool measured = false;
};

machine_profile default_profile();

/// Where the profile of this machine is kept ($HEPTAD_PROFILE_DIR, else $XDG_CACHE_HOME/heptad, else ~/.cache/heptad).
std::string profile_path();
/// Absent when there is no file; throws error when the file is malformed; `stale` explains when it is of another CPU or
/// version.
std::optional<machine_profile> load_profile(std::string const& path, std::string* stale = nullptr);
void save_profile(machine_profile const& profile, std::string const& path);

}  // namespace heptad
