// SPDX-License-Identifier: BSD-3-Clause
// The graph that looks at A and B before a fast algorithm may touch C: one scan task for every piece of an operand.
// Pieces are whole lines, so that each owns the maxima of its lines and has a copy of the maxima across them.
#pragma once

#include <cstdint>

#include "src/plan/profile.hpp"
#include "tasks/graph.hpp"

namespace heptad {

struct scan_graph {
  /// Where the maxima of one operand lie among the results: `row_copies` arrays of `rows` elements, then
  /// `col_copies` arrays of `cols`; those of the lines have one copy.
  struct operand {
    std::int64_t rows = 0, cols = 0;
    int row_copies = 1, col_copies = 1;
    std::int64_t first = 0;

    [[nodiscard]] std::int64_t of_rows(int copy) const noexcept { return first + copy * rows; }
    [[nodiscard]] std::int64_t of_cols(int copy) const noexcept { return first + row_copies * rows + copy * cols; }
    [[nodiscard]] std::int64_t end() const noexcept { return of_cols(col_copies); }
  };

  graph work;
  operand A, B;

  [[nodiscard]] std::int64_t elements() const noexcept { return B.end(); }  // of the results
};

/// Pure; for m, n, k > 0. Layouts are those of how.shape.
scan_graph build_scan_graph(plan const& how, machine_profile const& machine);

}  // namespace heptad
