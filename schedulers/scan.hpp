// SPDX-License-Identifier: BSD-3-Clause
// Runs a scan graph on real operands, and holds what it found.
#pragma once

#include <memory_resource>
#include <span>
#include <vector>

#include <heptad/heptad.hpp>

#include "schedulers/executor.hpp"
#include "tasks/scan_graph.hpp"

namespace heptad {

/// The largest |x| of every row and column of a matrix and of all of it; NaN where a NaN is, else infinite where an
/// infinity is.
template <typename T>
struct magnitudes {
  std::pmr::vector<T> rows, cols;
  T largest = 0;
};

/// The graph, the operands and the memory must outlive it, the memory also the magnitudes. Needs no scratch.
template <typename T>
class operand_scan final : public executor {
public:
  operand_scan(scan_graph const& scan, matrix_view<T const> A, matrix_view<T const> B,
               std::pmr::memory_resource* memory = std::pmr::get_default_resource());

  [[nodiscard]] std::size_t scratch_bytes() const noexcept override { return 0; }
  void run(task const& t, std::byte* scratch) const noexcept override;
  /// `spaces` are A and B.
  void run_at(task const& t, std::span<location const> spaces, std::byte* scratch) const noexcept override;

  /// After all tasks have run.
  [[nodiscard]] magnitudes<T> of_A() const { return merged(scan_.A); }
  [[nodiscard]] magnitudes<T> of_B() const { return merged(scan_.B); }

private:
  void scan(scan_step const& step, matrix_view<T const> const& whole) const noexcept;
  [[nodiscard]] magnitudes<T> merged(scan_graph::operand const& x) const;

  scan_graph const& scan_;
  matrix_view<T const> const A_, B_;
  mutable std::pmr::vector<T> results_;  // every task has its own part
};

}  // namespace heptad
