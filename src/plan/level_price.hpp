// SPDX-License-Identifier: BSD-3-Clause
// What one level costs and holds around its products, and what one leaf costs: the terms of the model's sums, for the
// whole plan (cost_model) and for the search that builds plans level by level (search_space).
#pragma once

#include "src/plan/level_traffic.hpp"
#include "src/plan/prices.hpp"

namespace heptad {

struct extent {
  double m = 0, n = 0, k = 0;

  [[nodiscard]] extent over(level_counts const& t) const noexcept { return {m / t.m, n / t.n, k / t.k}; }
};

/// Which layouts let products go into sums that are no longer needed.
struct operand_layouts {
  bool a_row_major = false, b_row_major = false;
};

inline level_order order_of(extent const& block, operand_layouts layout, bool overwrite, bool independent) noexcept {
  return {overwrite, independent, !layout.a_row_major && block.n <= block.k, !layout.b_row_major && block.m <= block.k};
}

/// The passes of one node of a level, `block` being one of its blocks.
struct pass_prices {
  double sums_A = 0, sums_B = 0, update_C = 0;  // bytes moved
  double touched_A = 0, touched_B = 0, touched_C = 0;
  int blocks_A = 0, blocks_B = 0, blocks_C = 0;  // that are touched

  pass_prices(level_passes const& p, extent const& block, double element_bytes) noexcept {
    double const A = element_bytes * block.m * block.k, B = element_bytes * block.k * block.n;
    double const C = element_bytes * block.m * block.n;
    blocks_A = p.of_A.all + p.sums_A, blocks_B = p.of_B.all + p.sums_B, blocks_C = p.touched_C;
    if (p.sums_A > 0) sums_A = touched_A = blocks_A * A;
    if (p.sums_B > 0) sums_B = touched_B = blocks_B * B;
    if (p.overwritten_C + p.accumulated_C > 0) {
      update_C = (p.read_C + p.overwritten_C + 2 * p.accumulated_C) * C;
      touched_C = blocks_C * C;
    }
  }

  [[nodiscard]] double bytes() const noexcept { return sums_A + sums_B + update_C; }
  [[nodiscard]] double touched() const noexcept { return touched_A + touched_B + touched_C; }
  [[nodiscard]] double seconds(prices const& price) const {
    double total = 0;
    if (sums_A > 0) total += price.pass(sums_A, touched_A, blocks_A);
    if (sums_B > 0) total += price.pass(sums_B, touched_B, blocks_B);
    if (update_C > 0) total += price.pass(update_C, touched_C, blocks_C);
    return total;
  }
  /// By all workers.
  [[nodiscard]] double shared_sums_seconds(prices const& price, int workers) const {
    double total = 0;
    if (sums_A > 0) total += price.shared_pass(sums_A, touched_A, blocks_A, workers);
    if (sums_B > 0) total += price.shared_pass(sums_B, touched_B, blocks_B, workers);
    return total;
  }
  [[nodiscard]] double shared_update_seconds(prices const& price, int workers) const {
    return update_C > 0 ? price.shared_pass(update_C, touched_C, blocks_C, workers) : 0;
  }
};

inline product_terms terms_of(level_counts const& t) noexcept {
  return {double(t.terms_A), double(t.terms_B), double(t.terms_C)};
}

/// A block with all its fused levels as one, or none (rank 1).
inline double leaf_seconds(prices const& price, extent const& block, level_counts const& fused, product_setting how) {
  extent const leaf = block.over(fused);
  how.fused = {fused.m, fused.k, fused.n, fused.rank};
  return price.products(leaf.m, leaf.n, leaf.k, fused.rank, terms_of(fused), how);
}

}  // namespace heptad
