// SPDX-License-Identifier: BSD-3-Clause
// Runs a scan graph on real operands, and holds what it found.
#pragma once

#include <atomic>
#include <memory_resource>
#include <span>
#include <vector>

#include <heptad/heptad.hpp>

#include "codelets/cpu/scan.hpp"
#include "schedulers/executor.hpp"
#include "tasks/scan_graph.hpp"

namespace heptad {

/// The largest |x| of every row and column of a matrix and of all of it; NaN where a NaN is, else infinite where an
/// infinity is.
template <typename T>
struct magnitudes {
  std::pmr::vector<T> rows, cols;
  T largest = 0;

  /// From the rows.
  void find_largest() noexcept {
    for (T const x : rows) largest = cpu::larger_magnitude(largest, x);
  }
};

/// The graph, the operands, the product's executor and the memory must outlive it, the memory also the magnitudes.
template <typename T>
class operand_scan final : public executor {
public:
  /// `product`: bound to A and B and the workspace, for the opening passes of a graph that has some.
  operand_scan(scan_graph const& scan, matrix_view<T const> A, matrix_view<T const> B, executor const* product,
               std::pmr::memory_resource* memory);

  /// Opening passes need what the product's executor does.
  [[nodiscard]] std::size_t scratch_bytes() const noexcept override;
  void run(task const& t, std::byte* scratch) const noexcept override;
  /// `spaces` are A and B; no opening passes.
  void run_at(task const& t, std::span<location const> spaces, std::byte* scratch) const noexcept override;

  /// After all tasks have run.
  [[nodiscard]] magnitudes<T> of_A() const { return merged(A_, &maxima::of_A); }
  [[nodiscard]] magnitudes<T> of_B() const { return merged(B_, &maxima::of_B); }

private:
  /// What the tasks that ran one after the other with it have found.
  struct maxima {
    line_maxima<T> of_A, of_B;
    std::atomic_flag taken = ATOMIC_FLAG_INIT;
  };

  [[nodiscard]] maxima& take() const noexcept;
  void scan(scan_step const& step, matrix_view<T const> const& whole) const noexcept;
  [[nodiscard]] magnitudes<T> merged(matrix_view<T const> const& X, line_maxima<T> maxima::*of_X) const;

  matrix_view<T const> const A_, B_;
  executor const* const product_;
  std::pmr::vector<T> elements_;
  mutable std::pmr::vector<maxima> copies_;  // one for every task that runs at a time
};

}  // namespace heptad
