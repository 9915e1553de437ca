// SPDX-License-Identifier: BSD-3-Clause
#include "tasks/node.hpp"

#include <algorithm>

#include "src/matrix/limits.hpp"

namespace heptad {
namespace {

/// Turns the places of a schedule into blocks.
class expansion {
public:
  expansion(node const& v, algorithm const& level, layouts const& layout, workspace_pool& pool)
      : v_(v),
        level_(level),
        layout_(layout),
        pool_(pool),
        m_(v.c.rows / level.m),
        n_(v.c.cols / level.n),
        k_(v.a.cols / level.k) {}

  [[nodiscard]] schedule_options schedule_wishes(expansion_options const& options) const {
    auto const fits = [&](std::int64_t side) {
      return options.of_sums == reuse::where_it_fits ? side <= k_
                                                     : options.of_sums == reuse::where_it_fills && side == k_;
    };
    bool const a_fits = layout_.a == orientation::column_major && fits(n_);  // m×n in m×k
    bool const b_fits = layout_.b == orientation::column_major && fits(m_);  // m×n in k×n
    return {v_.how, options.independent, a_fits, b_fits, options.batched};
  }

  block of_A(place p) const {
    return p.what == role::operand ? v_.a.sub(p.index / level_.k * m_, p.index % level_.k * k_, m_, k_) : buffer_of(p);
  }
  block of_B(place p) const {
    return p.what == role::operand ? v_.b.sub(p.index / level_.n * k_, p.index % level_.n * n_, k_, n_) : buffer_of(p);
  }
  /// m×n: a block of C, a temporary, or the first m×n elements of a sum that is no longer needed.
  block of_C(place p) const {
    return p.what == role::result ? v_.c.sub(p.index / level_.n * m_, p.index % level_.n * n_, m_, n_)
                                  : buffer_of(p).sub(0, 0, m_, n_);
  }

  template <typename BlockOf>
  combine_step pass(scheduled_pass const& scheduled, BlockOf block_of, program_table& programs) const {
    combine_step step;
    step.program = programs.index_of(scheduled.program);
    for (place p : scheduled.sources) step.sources.push_back(block_of(p));
    for (auto const& [where, how] : scheduled.targets) step.targets.push_back({block_of(where), 1, how});
    block const& written = step.targets.front().where;
    step.streaming = scheduled.targets.front().where.what != role::result &&
                     written.rows * written.cols * layout_.element_bytes >= streaming_bytes;
    return step;
  }

  [[nodiscard]] node child(scheduled_product const& p, int slot) const {
    std::string const number = std::to_string(p.number + 1);
    return {of_A(p.a),
            of_B(p.b),
            of_C(p.c),
            p.how,
            v_.coefficient * p.coefficient,
            v_.depth + 1,
            slot,
            v_.path.empty() ? number : v_.path + "." + number};
  }

private:
  [[nodiscard]] block buffer_of(place p) const {
    workspace_pool::key const key{v_.depth, v_.slot, p.what, p.index};
    if (p.what == role::sum_of_A) return pool_.get(key, m_, k_, layout_.a);
    if (p.what == role::sum_of_B) return pool_.get(key, k_, n_, layout_.b);
    return pool_.get(key, m_, n_, orientation::column_major);
  }

  node const& v_;
  algorithm const& level_;
  layouts const& layout_;
  workspace_pool& pool_;
  std::int64_t const m_, n_, k_;  // of the blocks
};

}  // namespace

int program_table::index_of(additions_program const& program) {
  auto const found = std::ranges::find(programs_, program);
  auto const index = static_cast<int>(found - programs_.begin());
  if (found == programs_.end()) programs_.push_back(program);
  return index;
}

void expand(node const& v, algorithm const& level, expansion_options const& options, layouts const& layout,
            workspace_pool& pool, program_table& programs, node_visitor& visitor) {
  expansion const x(v, level, layout, pool);
  level_schedule s = schedule_level(level, x.schedule_wishes(options));
  if (options.longest_chains_first)
    for (auto* list : {&s.before_sums, &s.before_update, &s.after_update}) put_longest_chains_first(*list);
  int const slots = std::min(options.slots, level.rank());
  int emitted = 0;
  auto const products = [&](std::vector<scheduled_product> const& list) {
    for (auto const& p : list) visitor.product(x.child(p, v.slot * slots + emitted++ % slots));
  };
  auto const pass = [&](pass_kind kind, scheduled_pass const& scheduled, auto block_of) {
    if (!scheduled.targets.empty()) visitor.pass(v, kind, x.pass(scheduled, block_of, programs));
  };

  products(s.before_sums);
  pass(pass_kind::sums_of_A, s.sums_A, [&](place p) { return x.of_A(p); });
  pass(pass_kind::sums_of_B, s.sums_B, [&](place p) { return x.of_B(p); });
  products(s.before_update);
  pass(pass_kind::update_of_C, s.update_C, [&](place p) { return x.of_C(p); });
  products(s.after_update);
}

}  // namespace heptad
