// SPDX-License-Identifier: BSD-3-Clause
// The products of one fused level, settled before the operands are known: factors, the turn of each product on each
// block of C, and which products must come before it. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tasks/steps.hpp"

namespace heptad::cuda {

struct fused_group {
  struct feed {
    target where;        // its coefficient is that of the product, sums beginning with factor 1
    unsigned block = 0;  // number of the block of C in this group
    unsigned turn = 0;   // products before on this number, in this group and in those before
  };
  struct product {
    std::vector<source> a, b;  // the first coefficients are 1
    std::vector<feed> c;
    std::vector<std::size_t> after;  // the last earlier product of the group on each block of C
  };
  std::vector<product> products;
  unsigned first_ticket = 0;  // tiles of all products of the groups before
};

/// Numbers turns and tickets on, group after group, for launches that share counters.
class fused_numbering {
public:
  /// `tiles`: of C, in one product. Throws error{invalid_argument} when a sum has more than most_fused_terms blocks, or
  /// there are too many tiles to number.
  fused_group add(std::span<product_step const> level, std::int64_t tiles);

  /// Blocks of C in the largest group.
  [[nodiscard]] std::size_t blocks() const noexcept { return turns_.size(); }

private:
  std::vector<unsigned> turns_;
  std::uint64_t tickets_ = 0;
};

}  // namespace heptad::cuda
