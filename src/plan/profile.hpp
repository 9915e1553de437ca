// SPDX-License-Identifier: BSD-3-Clause
// What the planner knows of the machine. Measured once by `heptad calibrate`, kept as JSON under the XDG cache
// directory, with defaults of a 2020s x86-64 server core when absent.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "src/matrix/limits.hpp"

namespace heptad {

/// Rates of one element type with one kernel set, on one core.
struct rate_table {
  /// Gflop/s of classical products m×k times k×n, for every m, n and k of `sides` (ascending): entry (im, in, ik) is
  /// number (im · |sides| + in) · |sides| + ik.
  std::vector<int> sides{64};
  std::vector<double> product_gflops{40};
  /// What one more block in the sums of a product costs, and one more block that it updates (read and written, of
  /// products gathered in a buffer first or straight), as GB/s, by the size of the whole operands that fused levels cut
  /// into such blocks; and fetching operands of this size, of a plain product and of a fused level, where passes over
  /// much else have left them. Every update of a block whose columns are not whole cache lines costs as much as moving
  /// it at `ragged_gbytes` beyond all that: vectors lie across two lines, and a last tile is partly empty. Ascending
  /// sizes.
  struct term_rates {
    int size;
    double a_gbytes, b_gbytes, ab_gbytes, abc_gbytes, fetch_gbytes, fused_fetch_gbytes, ragged_gbytes;
  };
  std::vector<term_rates> terms{{128, 50, 50, 50, 50, 50, 50, 500}};
  /// Rows of a vector of the kernels: a product takes as long as one with all of its last vector's rows.
  int vector_rows = 1;

  /// Of the largest product in the table.
  [[nodiscard]] double large_product_gflops() const { return product_gflops.back(); }
};

/// A pass over this many bytes of blocks: GB/s read and written, by one core, and by all cores each with so many. The
/// scan of an operand of so many bytes before a product: GB/s read by one core.
struct pass_rate {
  double bytes;
  double gbytes, gbytes_all;
  double scan_gbytes = gbytes;
};

/// Rates are measured of passes over 8 blocks. From streaming_bytes a block on they bypass the caches, which is another
/// rate: measured just before, and there.
inline constexpr double most_stored_bytes = 0.97 * 8 * streaming_bytes, least_streamed_bytes = 8.0 * streaming_bytes;

/// A level whose passes each go over this many blocks takes so many times as long around its products as its passes
/// would by their bytes: many streams are slower than few, and products find what passes wrote farther away.
struct pass_width {
  int blocks;
  double slower;
};

struct machine_profile {
  std::string cpu;      // model name
  std::string version;  // of Heptad and of this table's layout
  std::string kernel;   // set that was measured
  int cores = 1;
  std::size_t memory_bytes = 0;    // of the machine
  std::size_t l2_bytes = 1 << 20;  // per core
  std::size_t l3_bytes = 32 << 20;
  std::vector<pass_rate> passes{{1e6, 50, 50}};  // ascending; the last one in memory
  std::vector<pass_width> widths{{8, 1}};        // ascending
  double update_gbytes = 30;                     // C += …, in memory, one core
  double task_seconds = 2e-6;                    // overhead of one task
  double call_seconds = 5e-6;                    // of one call whose workers are awake
  rate_table f32, f64;
  bool measured = false;

  /// Of memory, all cores together.
  [[nodiscard]] double memory_gbytes() const { return passes.back().gbytes_all; }
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
