// SPDX-License-Identifier: BSD-3-Clause
// What a pass and a product cost on one worker, from the rates of the profile. The planner's formulas and the costs of
// the graph's tasks both come from here.
#pragma once

#include <heptad/heptad.hpp>

#include "src/plan/profile.hpp"

namespace heptad {

constexpr int bytes_of(element_type type) noexcept { return type == element_type::f64 ? 8 : 4; }

/// Blocks in the sums of a product, and blocks that it updates.
struct product_terms {
  double a = 1, b = 1, c = 1;
};

/// What fused levels cut their A, B and C into, and the products that they make of these blocks.
struct fused_blocks {
  int m = 1, k = 1, n = 1, rank = 1;
};

/// Where products find their operands: in an inner cache; where passes over much else have left them, which their size
/// tells; in memory, however small they are.
enum class distance { in_cache, passed, in_memory };

/// How products run.
struct product_setting {
  bool product_buffer = false;  ///< AB, otherwise ABC
  distance operands = distance::in_cache;
  fused_blocks fused{};  ///< of whole operands
};

class prices {
public:
  prices(element_type type, machine_profile const& machine)
      : machine_(machine),
        rates_(type == element_type::f64 ? machine.f64 : machine.f32),
        bytes_(bytes_of(type)),
        first_streamed_(first_streamed(rates_, bytes_)) {}

  /// Seconds of `count` products m×k times k×n with so many terms in all.
  [[nodiscard]] double products(double m, double n, double k, double count, product_terms total,
                                product_setting const& how) const;
  [[nodiscard]] double product(double m, double n, double k, product_setting const& how = {}) const {
    return products(m, n, k, 1, {}, how);
  }
  /// Of that, what the blocks take beyond one in each sum and one to update; and in shallow products of fused levels
  /// what all updates take of a C that is larger than a quarter of the last cache.
  [[nodiscard]] double further_sums(double m, double n, double k, double count, product_terms total,
                                    fused_blocks const& fused) const;
  [[nodiscard]] double further_updates(double m, double n, double k, double count, product_terms total,
                                       product_setting const& how) const;
  /// What fetching A, B and C takes, once for all the products of a fused level.
  [[nodiscard]] double fetching(double m, double n, double k, bool fused, distance from) const;
  /// Where passes that touch so many bytes leave the operands of products: several workers hold much else in the last
  /// cache, and fetch at once.
  [[nodiscard]] distance left_by_passes(double touched, int workers) const noexcept;

  /// Seconds of a pass that moves `traffic` bytes (read and written) among so many blocks of `footprint` bytes in all,
  /// on one worker.
  [[nodiscard]] double pass(double traffic, double footprint, int blocks = 1) const;
  /// The same, shared by so many workers that do nothing else, each with its part of the blocks: no faster than all
  /// cores were measured to be, nor than the memory, as much else has been read and written since the blocks were used
  /// last.
  [[nodiscard]] double shared_pass(double traffic, double footprint, int blocks, int workers) const;

  /// Seconds of looking at so many bytes of an operand before the product, shared by so many workers.
  [[nodiscard]] double scan(double bytes, double operand, int workers = 1) const;
  /// What is left of that, `scan`, for fused levels, whose products look while they pack unless they read C. Measured
  /// on a Granite Rapids: of 512³ 1.5 % instead of 6, of 1024³ 1 % instead of 3.5, in both types.
  [[nodiscard]] static double look_of_fused(double scan, bool beta_zero) noexcept {
    return beta_zero ? scan / 4 : scan;
  }

  [[nodiscard]] double element_bytes() const noexcept { return bytes_; }

private:
  /// Does a product gather in the buffer? Otherwise it updates C once for each block of k-steps.
  [[nodiscard]] static bool gathers(double k, product_setting const& how) noexcept;
  /// Seconds of so many updates of a block of C, each once or once for each block of k-steps, at this rate.
  [[nodiscard]] double updates(double C, double k, double count, product_setting const& how,
                               double rate_table::term_rates::*rate) const;
  /// Of that, what they take longer where columns of C are not whole cache lines.
  [[nodiscard]] double ragged_updates(double m, double n, double k, double count, product_setting const& how) const;

  /// What a block costs beyond the rate of products depends on where it comes from, and so on its size.
  [[nodiscard]] double seconds_per_byte(double size, double rate_table::term_rates::*what) const;

  /// Of one worker, or of all cores together.
  [[nodiscard]] double seconds_per_byte_of_pass(double footprint, int blocks, int workers) const;

  /// GB/s among so many bytes.
  [[nodiscard]] double rate_of(double bytes, double pass_rate::*what) const;

  /// Of the first operands that passes write past the caches; nullptr: none were measured.
  static rate_table::term_rates const* first_streamed(rate_table const& rates, double element_bytes) noexcept;

  machine_profile const& machine_;
  rate_table const& rates_;
  double const bytes_;
  rate_table::term_rates const* const first_streamed_;
};

}  // namespace heptad
