// SPDX-License-Identifier: BSD-3-Clause
#include "tasks/device_sequence.hpp"

#include "tasks/sequence.hpp"

namespace heptad {
namespace {

orientation order_of(bool row_major) { return row_major ? orientation::row_major : orientation::column_major; }

/// C(row.., col..) (how)= A(row.., first..) B(first.., col..), when there is anything to do.
void add_classical(sequence& body, std::int64_t row, std::int64_t col, std::int64_t first, std::int64_t m,
                   std::int64_t n, std::int64_t k, update how) {
  if (m <= 0 || n <= 0 || k <= 0) return;
  product_step step;
  step.a.push_back({{space_A, row, first, m, k}, 1});
  step.b.push_back({{space_B, first, col, k, n}, 1});
  step.c.push_back({{space_C, row, col, m, n}, 1, how});
  body.steps.emplace_back(std::move(step));
}

}  // namespace

device_sequence build_device_sequence(cuda::plan const& how) {
  problem const& shape = how.shape;
  layouts const layout{order_of(shape.a_row_major), order_of(shape.b_row_major), how.type == element_type::f64 ? 8 : 4,
                       alignment_rule::device};
  update const first = shape.beta_zero ? update::overwrite : update::scaled;
  serial_levels levels;
  std::int64_t m = 1, n = 1, k = 1;
  for (cuda::stage const& s : how.stages) {
    if (s.fused) levels.fused = s.coefficients.get();
    else levels.explicit_passes.push_back(s.coefficients.get());
    m *= s.coefficients->m, n *= s.coefficients->n, k *= s.coefficients->k;
  }
  if (how.core_m % m != 0 || how.core_n % n != 0 || how.core_k % k != 0)
    throw error(status::internal_error, "device sequence: the stages must divide the core; nothing was queued");
  for (std::size_t i = 0; i + 1 < how.stages.size(); ++i)
    if (how.stages[i].fused || how.stages[i].batched)
      throw error(status::invalid_argument, "plan.stages: only the last may be fused or batched");
  levels.batched = !how.stages.empty() && how.stages.back().batched;

  device_sequence result;
  if (how.stages.empty()) {
    add_classical(result.body, 0, 0, 0, shape.m, shape.n, shape.k, first);
    return result;
  }
  program_table programs(result.programs);
  result.body = build_sequence(levels, how.core_m, how.core_n, how.core_k, first, layout, programs);
  result.core_steps = result.body.steps.size();
  if (levels.fused != nullptr)
    for (int r = 0; r < levels.fused->rank(); ++r) result.fused_products += adds_to_C(*levels.fused, r);
  add_classical(result.body, 0, 0, how.core_k, how.core_m, how.core_n, shape.k - how.core_k, update::accumulate);
  add_classical(result.body, 0, how.core_n, 0, shape.m, shape.n - how.core_n, shape.k, first);
  add_classical(result.body, how.core_m, 0, 0, shape.m - how.core_m, how.core_n, shape.k, first);
  return result;
}

}  // namespace heptad
