// SPDX-License-Identifier: BSD-3-Clause
// One node of the recursion, c (how)= coefficient · a · b, and its expansion by one level into passes and products.
// The same walk makes tasks (task levels) and the steps of a sequence (explicit levels).
#pragma once

#include <string>
#include <vector>

#include "src/plan/level_schedule.hpp"
#include "tasks/steps.hpp"
#include "tasks/workspace_pool.hpp"

namespace heptad {

struct node {
  block a, b, c;
  update how = update::overwrite;
  double coefficient = 1;
  int depth = 0;
  int slot = 0;      // of the workspace of this node
  std::string path;  // product numbers from 1, outermost first: "3.5"; empty for the root
};

/// Layouts of the operands, which their sums take over; C is column-major.
struct layouts {
  orientation a = orientation::column_major, b = orientation::column_major;
  std::int64_t element_bytes = 8;
  alignment_rule alignment = alignment_rule::cpu;
};

enum class pass_kind { sums_of_A, sums_of_B, update_of_C };

/// Programs in use, each once.
class program_table {
public:
  explicit program_table(std::vector<additions_program>& programs) : programs_(programs) {}
  int index_of(additions_program const& program);

private:
  std::vector<additions_program>& programs_;
};

/// What a node becomes, in program order.
class node_visitor {
public:
  virtual ~node_visitor() = default;
  virtual void pass(node const& parent, pass_kind kind, combine_step step) = 0;
  /// A product of a smaller shape: a node of the next depth.
  virtual void product(node child) = 0;
};

/// When a product may go into a sum that no later product needs.
enum class reuse { where_it_fits, where_it_fills, never };

struct expansion_options {
  bool independent = false;  // see schedule_options
  // Product number r of a node, in program order, has slot r % slots of that node for its own workspace. Nodes whose
  // own slots differ share nothing below, so that no part of a large machine waits for another one's.
  int slots = 1;
  bool longest_chains_first = false;  // of the products: for workers that share them
  bool batched = false;               // see schedule_options
  reuse of_sums = reuse::where_it_fits;
};

/// The blocks of `v` must be divisible by the level.
void expand(node const& v, algorithm const& level, expansion_options const& options, layouts const& layout,
            workspace_pool& pool, program_table& programs, node_visitor& visitor);

}  // namespace heptad
