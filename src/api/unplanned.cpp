// SPDX-License-Identifier: BSD-3-Clause
#include "src/api/unplanned.hpp"

#include <fmt/format.h>

#include "codelets/cpu/combine.hpp"
#include "codelets/cpu/product.hpp"
#include "src/api/present.hpp"
#include "src/plan/planner.hpp"

namespace heptad {
namespace {

plan unplanned(element_type type, problem const& shape, char const* reason) {
  plan p;
  p.type = type;
  p.shape = shape;
  p.core_m = shape.m;
  p.core_n = shape.n;
  p.core_k = shape.k;
  p.reason = reason;
  p.product_buffer = false;
  judge_accuracy(p);
  return p;
}

}  // namespace

bool is_small(problem const& x, int threads) {
  // A plan for one thread has nobody to wake. Finding it again took 2 % of the time of 96 x 96 x 96, and 1 % here (Zen
  // 4, single precision).
  double const side = threads == 1 ? 160 : 64;
  return static_cast<double>(x.m) * static_cast<double>(x.n) * static_cast<double>(x.k) <= side * side * side;
}

template <typename T>
report scale_only(operands<T> const& x) {
  report r;
  bool const no_elements = x.C.rows == 0 || x.C.cols == 0;
  r.plan = unplanned(type_of<T>, shape_of(x), no_elements ? "C has no elements" : "alpha or k is 0: C is only scaled");
  if (x.beta != T(1)) cpu::scale(x.beta, x.C.data, x.C.rows, x.C.cols, x.C.row_stride, x.C.col_stride);
  return r;
}

template <typename T>
report multiply_small(context::impl& state, operands<T> const& x, options const& wishes) {
  auto const& kernels = wishes.kernel == "auto" ? cpu::best_kernel_set<T>() : *cpu::find_kernel_set<T>(wishes.kernel);
  report r;
  r.plan = unplanned(type_of<T>, shape_of(x), "small: one classical product on the calling thread");
  r.plan.kernel = kernels.name;
  r.plan.tasks = r.tasks = 1;
  r.plan.workspace = r.workspace = cpu::product_scratch(kernels, x.C.rows, x.C.cols, x.A.cols, cpu::variant::abc);
  auto const scratch = state.memory.take(r.workspace);
  if (!scratch)
    throw error(status::out_of_memory, fmt::format("no memory for {} bytes of packing; C is untouched", r.workspace));
  cpu::term<T> const a{x.A.data, T(1)}, b{x.B.data, T(1)};
  cpu::destination<T> const c{x.C.data, x.alpha, x.beta};
  cpu::product_call<T> const call{.m = x.C.rows,
                                  .n = x.C.cols,
                                  .k = x.A.cols,
                                  .a = {&a, 1},
                                  .a_rs = x.A.row_stride,
                                  .a_cs = x.A.col_stride,
                                  .b = {&b, 1},
                                  .b_rs = x.B.row_stride,
                                  .b_cs = x.B.col_stride,
                                  .c = {&c, 1},
                                  .c_rs = x.C.row_stride,
                                  .c_cs = x.C.col_stride};
  cpu::product(kernels, call, cpu::variant::abc, scratch.data());
  return r;
}

#define HEPTAD_FOR(T)                             \
  template report scale_only(operands<T> const&); \
  template report multiply_small(context::impl&, operands<T> const&, options const&);
HEPTAD_FOR(double)
HEPTAD_FOR(float)
#undef HEPTAD_FOR

}  // namespace heptad
