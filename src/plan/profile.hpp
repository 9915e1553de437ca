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
  double fringe_gflops = 8;    // thin products: a side of 8, the others large
  /// Measured leaves: rates of a cubic product of this size without and with one fused level, single core.
  /// Ascending sizes.
  struct leaf {
    int size;
    double classical_gflops;
    double ab_gflops;   // effective: 2 n³ / t, one fused level of Strassen, products gathered in a buffer
    double abc_gflops;  // the same, straight into C
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
  double pass_gbytes_l3 = 35;   // in L3
  double pass_gbytes = 30;      // in memory
  double pass_gbytes_all = 50;  // in memory, all cores together
  double update_gbytes = 30;    // C += …, in memory, one core
  double task_seconds = 2e-6;   // overhead of one task
  double call_seconds = 5e-6;   // of one call whose workers are awake
  rate_table f32, f64;
  bool measured = false;
};

/// The table above with what hwloc says of this machine: CPU model, cores, caches, memory.
machine_profile default_profile();

/// Where the profile of this machine is kept: profile.json in $HEPTAD_PROFILE_DIR, else $XDG_CACHE_HOME/heptad, else
/// ~/.cache/heptad. Throws error when none of the three is set.
std::string profile_path();
/// Absent when there is no file; throws error naming the field when the file is malformed. `stale` explains when it is
/// of another CPU, version or kernel set ("" accepts any), and is emptied otherwise.
std::optional<machine_profile> load_profile(std::string const& path, std::string* stale = nullptr,
                                            std::string const& kernel = {});
/// Makes the folder when it is missing; replaces the file in one step.
void save_profile(machine_profile const& profile, std::string const& path);

}  // namespace heptad
