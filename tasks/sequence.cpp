// SPDX-License-Identifier: BSD-3-Clause
#include "tasks/sequence.hpp"

#include <algorithm>

namespace heptad {
namespace {

class sequence_builder : public node_visitor {
public:
  sequence_builder(serial_levels const& levels, layouts const& layout, program_table& programs, sequence& out)
      : levels_(levels),
        layout_(layout),
        programs_(programs),
        out_(out),
        pool_(out.buffers, out.scratch_elements, layout.element_bytes, layout.alignment) {}

  void product(node v) override {
    auto const depth = static_cast<std::size_t>(v.depth);
    if (depth < levels_.explicit_passes.size()) {
      expansion_options options;
      options.batched = levels_.batched && depth + 1 == levels_.explicit_passes.size();
      expand(v, *levels_.explicit_passes[depth], options, layout_, pool_, programs_, *this);
    } else if (levels_.fused != nullptr) fused_products(v, *levels_.fused);
    else out_.steps.emplace_back(product_step{{{v.a, 1}}, {{v.b, 1}}, {{v.c, v.coefficient, v.how}}});
  }

  void pass(node const& parent, pass_kind kind, combine_step step) override {
    step.opening = levels_.opens && parent.depth == 0 && kind != pass_kind::update_of_C;
    out_.steps.emplace_back(std::move(step));
  }

private:
  /// One product a column of U, V, W; the first to touch a block of C applies the node's update.
  void fused_products(node const& v, algorithm const& x) {
    std::int64_t const m = v.c.rows / x.m, n = v.c.cols / x.n, k = v.a.cols / x.k;
    std::vector<bool> read_of_A(x.U.rows, false), read_of_B(x.V.rows, false), touched(x.W.rows, false);
    auto const read = [](std::vector<bool>& known, int block) {
      bool const is_new = !known[block];
      known[block] = true;
      return is_new;
    };
    for (int r = 0; r < x.rank(); ++r) {
      if (!adds_to_C(x, r)) continue;
      product_step step;
      step.new_a = step.new_b = false;
      for (int i = 0; i < x.U.rows; ++i) {
        if (x.U(i, r).is_zero()) continue;
        step.a.push_back({v.a.sub(i / x.k * m, i % x.k * k, m, k), x.U(i, r).value()});
        step.new_a |= read(read_of_A, i);
      }
      for (int j = 0; j < x.V.rows; ++j) {
        if (x.V(j, r).is_zero()) continue;
        step.b.push_back({v.b.sub(j / x.n * k, j % x.n * n, k, n), x.V(j, r).value()});
        step.new_b |= read(read_of_B, j);
      }
      for (int p = 0; p < x.W.rows; ++p) {
        if (x.W(p, r).is_zero()) continue;
        step.c.push_back({v.c.sub(p / x.n * m, p % x.n * n, m, n), v.coefficient * x.W(p, r).value(),
                          touched[p] ? update::accumulate : v.how});
        touched[p] = true;
      }
      out_.steps.emplace_back(std::move(step));
    }
  }

  serial_levels const& levels_;
  layouts const& layout_;
  program_table& programs_;
  sequence& out_;
  workspace_pool pool_;
};

}  // namespace

sequence build_sequence(serial_levels const& levels, std::int64_t m, std::int64_t n, std::int64_t k, update how,
                        layouts const& layout, program_table& programs) {
  sequence s;
  s.m = m, s.n = n, s.k = k, s.how = how;
  if (algorithm const* x = levels.fused) s.fused = {x->m, x->k, x->n, x->rank()};
  node whole;
  whole.a = {space_A, 0, 0, m, k};
  whole.b = {space_B, 0, 0, k, n};
  whole.c = {space_C, 0, 0, m, n};
  whole.how = how;
  sequence_builder(levels, layout, programs, s).product(whole);
  return s;
}

}  // namespace heptad
