// SPDX-License-Identifier: BSD-3-Clause
// The body of a product task: a serial FMM by explicit levels around one fused product.
#pragma once

#include "tasks/node.hpp"

namespace heptad {

/// Levels below the task levels. No level at all: one classical product.
struct serial_levels {
  std::vector<algorithm const*> explicit_passes;  // outermost first
  algorithm const* fused = nullptr;               // the fused levels composed; null: none
  bool batched = false;  // the products of the innermost explicit level are one batch (see schedule_options)
  bool opens = false;    // the operands are A and B from their first element: the outermost sums are opening passes
};

/// C (how)= A B on formal operands of these shapes, which the levels must divide. The programs of its combine steps
/// are added to `programs`.
sequence build_sequence(serial_levels const& levels, std::int64_t m, std::int64_t n, std::int64_t k, update how,
                        layouts const& layout, program_table& programs);

}  // namespace heptad
