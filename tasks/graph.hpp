// SPDX-License-Identifier: BSD-3-Clause
// A graph is a sequential task flow: tasks in program order, each with declared accesses on blocks. Dependencies follow
// from the accesses: reads wait for the last writes, writes for readers, accumulates on one block commute and exclude
// each other (or run in program order, on request).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "tasks/steps.hpp"

namespace heptad {

enum class access_mode { read, write, accumulate };  // write: read and/or written, ordered both ways

struct access {
  block where;
  access_mode mode = access_mode::read;
};

struct cost {
  double flops = 0;
  double bytes = 0;    // of memory traffic that the task must make
  double seconds = 0;  // predicted, alone on one worker
};

struct task {
  std::string name;  // "product 3.5", "sums of A 2", "update of C"; for traces and DOT
  std::variant<combine_step, scale_step, sequence_step, scan_step> body;
  std::vector<access> accesses;
  heptad::cost cost;
  int priority = 0;  // larger first; see prioritize()
};

struct graph {
  element_type type = element_type::f64;
  std::int64_t m = 0, n = 0, k = 0;
  bool product_buffer = true;   // AB or ABC, see plan
  distance operands{};          // of its products, for their price
  std::vector<buffer> buffers;  // shared workspace
  std::int64_t workspace_elements = 0;
  std::vector<additions_program> programs;  // used by the combine steps of tasks and sequences
  std::vector<heptad::sequence> sequences;
  std::vector<task> tasks;  // in program order
};

/// "combine", "scale", "product" or "scan".
char const* codelet_name(task const& t);

/// The edges that the accesses imply.
struct dependencies {
  std::vector<std::vector<int>> successors;
  std::vector<int> predecessors;  // how many
  std::vector<std::vector<int>>
      exclusions;  // per task: lock numbers, ascending; tasks that accumulate on overlapping blocks share one
  int locks = 0;
};

/// ordered: accumulates run in program order (no exclusions): bitwise reproducible.
dependencies derive_dependencies(graph const& g, bool ordered);

/// Graphviz text: one node a task with its name and cost, one edge a dependency, dashed lines between commuting
/// updates.
std::string to_dot(graph const& g, dependencies const& d);

}  // namespace heptad
