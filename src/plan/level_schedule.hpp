// SPDX-License-Identifier: BSD-3-Clause
// The order of one level, for any algorithm: which sums are made, where each product goes, when C is updated.
// Knows block indices only, no shapes, so that task levels and explicit levels share it.
#pragma once

#include <memory>
#include <vector>

#include "src/algorithm/algorithm.hpp"

namespace heptad {

/// How a destination is updated. `scaled`: C = beta C + …, with the caller's beta.
enum class update { overwrite, accumulate, scaled };

/// What a block of a level is: a block of the node's own operand or of its C, or a buffer of the node.
enum class role { operand, sum_of_A, sum_of_B, temporary, result };

struct place {
  role what = role::operand;
  int index = 0;
  friend bool operator==(place const&, place const&) = default;
};

/// c (how)= coefficient · a · b.
struct scheduled_product {
  int number = 0;  // r: the column of U, V, W
  place a, b, c;
  double coefficient = 1;
  update how = update::overwrite;
};

struct scheduled_target {
  place where;
  update how = update::overwrite;
};

struct scheduled_pass {
  additions_program program;
  std::vector<place> sources;
  std::vector<scheduled_target> targets;  // none: there is no such pass
};

/// Program order: before_sums, sums_A, sums_B, before_update, update_C, after_update.
struct level_schedule {
  std::vector<scheduled_product> before_sums;  // need no sums: they run while the sums are made
  scheduled_pass sums_A, sums_B;
  std::vector<scheduled_product> before_update;
  scheduled_pass update_C;
  std::vector<scheduled_product> after_update;
};

/// independent: every product that update_C needs has a buffer of its own, nothing is formed in place.
/// Otherwise workspace is spared: with update::overwrite the products are formed in the blocks of C, and what does not
/// fit there goes into sums that no later product needs, where `reuse_A`, `reuse_B` say that a block of C fits.
/// batched: independent, and every product finds its operands in buffers of their own, single blocks copied, and leaves
/// its result in a temporary: product r uses number r of each. The products are then one batch of equal calls.
struct schedule_options {
  update how = update::overwrite;
  bool independent = false;
  bool reuse_A = false, reuse_B = false;
  bool batched = false;
};

/// A product that feeds one block of C is *direct*: it updates that block itself. The others are *shared*: they are
/// formed somewhere, and update_C maps them to the blocks of C.
/// An operand with one term is the block itself: its coefficient travels with the product.
level_schedule schedule_level(algorithm const& x, schedule_options const& wishes);

/// Does one wait for the other? They are formed in one place, or the later one overwrites what the earlier one reads.
bool waits(scheduled_product const& later, scheduled_product const& earlier);

/// Products for which most others wait, one after the other, come first, so that workers that share them do not wait in
/// the end; those that wait for each other keep their order.
void put_longest_chains_first(std::vector<scheduled_product>& products);

/// The same for several orders of one algorithm, which must outlive it: what does not depend on the order is made once.
class level_scheduler {
public:
  explicit level_scheduler(algorithm const& x, bool batched = false);
  ~level_scheduler();
  level_scheduler(level_scheduler const&) = delete;
  level_scheduler& operator=(level_scheduler const&) = delete;

  /// wishes.batched is that of the constructor.
  [[nodiscard]] level_schedule schedule(schedule_options wishes) const;

private:
  struct parts;
  class ordering;
  algorithm const& x_;
  bool const batched_;
  std::unique_ptr<parts const> const parts_;
};

}  // namespace heptad
