// SPDX-License-Identifier: BSD-3-Clause
// Products of the codelet, and levels through the executor, timed on this thread: on operands where the run before left
// them, or where passes leave them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <heptad/heptad.hpp>

#include "codelets/cpu/kernel_set.hpp"
#include "src/algorithm/algorithm.hpp"
#include "src/api/measuring.hpp"
#include "src/plan/profile.hpp"

namespace heptad {

struct extents {
  std::int64_t m, n, k;
};

/// What a bench is asked for at most.
struct bench_room {
  std::vector<extents> operands;  ///< used again by every run
  std::vector<extents> fetched;   ///< others in every run
  std::vector<extents> products;  ///< of the codelet, with their scratch
};

/// C is column-major, and A and B have padded columns.
template <typename T>
class product_bench {
public:
  /// Throws error{out_of_memory}. The clocks live as long as the bench.
  product_bench(std::string kernel, calibration_clocks const& clocks, bench_room const& room);

  /// Seconds of C += A B.
  [[nodiscard]] double plain(extents const& e, double budget, bool fetched = false) const;
  /// Seconds of C += A B into the first so many (1 to 4) of the four blocks of a larger C.
  [[nodiscard]] double updating(extents const& e, int blocks, double budget) const;
  /// Seconds of C := A B by such levels, whose products are of such blocks.
  [[nodiscard]] double levels(std::vector<plan_level> list, extents const& block, bool product_buffer, double budget,
                              bool fetched = false) const;
  [[nodiscard]] double fused(std::shared_ptr<algorithm const> const& x, extents const& block, bool product_buffer,
                             double budget, bool fetched = false) const {
    return levels({{x->name, level_kind::fused, x}}, block, product_buffer, budget, fetched);
  }

  /// Whether a product finds its operands where the run before left them any nearer than where passes do.
  [[nodiscard]] bool may_stay(extents const& e) const;

private:
  // Elements of A, B and C, and of how many of them the runs take turns where each has others.
  static std::int64_t held(extents const& e);
  [[nodiscard]] std::int64_t sets_of(extents const& e) const;
  [[nodiscard]] double elements(bench_room const& room) const;
  [[nodiscard]] double scratch_bytes(bench_room const& room) const;

  std::string const kernel_;
  cpu::kernel_set<T> const& kernels_;
  calibration_clocks const& clocks_;
  machine_profile const machine_ = default_profile();  // for graphs whose costs are not asked for
  filled_memory<T> const operands_;
  filled_memory<std::byte> const scratch_;
};

}  // namespace heptad
