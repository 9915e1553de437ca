// SPDX-License-Identifier: BSD-3-Clause
// The calls of codelets, as data: what a task does, and what a serial sequence inside a task is made of.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "src/algorithm/additions_program.hpp"
#include "src/plan/level_schedule.hpp"
#include "src/plan/prices.hpp"
#include "tasks/block.hpp"

namespace heptad {

struct source {
  block where;
  double coefficient = 1;
};

struct target {
  block where;
  double coefficient = 1;
  update how = update::accumulate;
};

/// combine: targets := program(sources); the coefficients of sources and targets are 1 (they are in the program).
struct combine_step {
  int program = 0;  // index into the owner's table of programs
  std::vector<block> sources;
  std::vector<target> targets;
  bool streaming = false;  // non-temporal stores of whole lines into workspace: what follows in the last one is lost
  bool opening = false;    // reads A or B itself, writes workspace that nothing else needs before: may run first of all
};

/// product: M = alpha (Σ a)(Σ b); every target += coefficient · M. Each product of the graph carries the caller's alpha
/// once.
struct product_step {
  std::vector<source> a, b;
  std::vector<target> c;
  bool new_a = true, new_b = true;  // it reads blocks that no product before, of the same fused levels, has read
};

/// C := beta C.
struct scale_step {
  block where;
};

/// scan: the largest |x| of every row and column of a block of A or B.
struct scan_step {
  block where;
};

using step = std::variant<combine_step, product_step, scale_step>;

/// A serial multi-level FMM on formal operands A (space_A), B and C with buffers in the worker's scratch: the body of
/// every product task of one shape.
struct sequence {
  std::int64_t m = 0, n = 0, k = 0;
  update how = update::accumulate;  // of the formal C
  std::vector<buffer> buffers;
  std::vector<step> steps;
  std::int64_t scratch_elements = 0;  // of the buffers; the packing's own scratch is the codelet's affair
  fused_blocks fused;                 // that its products are made of
};

/// A product task: run a sequence with these actual operands; alpha is multiplied by `coefficient`.
struct sequence_step {
  int sequence = 0;
  block a, b, c;
  double coefficient = 1;
};

}  // namespace heptad
