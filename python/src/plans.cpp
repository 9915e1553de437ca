// SPDX-License-Identifier: BSD-3-Clause
#include "python/src/plans.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

namespace heptad::python {
namespace {

bool fits(operand const& x, std::int64_t rows, std::int64_t cols, bool row_major) {
  bool const vector = std::min(rows, cols) <= 1;
  return x.view.rows == rows && x.view.cols == cols && (vector || is_row_major(x.view) == row_major);
}

std::string text(problem const& x) {
  auto const order = [](bool row_major) { return row_major ? 'C' : 'F'; };
  return fmt::format("m = {}, n = {}, k = {}, a_order = '{}', b_order = '{}', out_order = '{}'", x.m, x.n, x.k,
                     order(x.a_row_major), order(x.b_row_major), order(x.c_row_major));
}

}  // namespace

void transpose(plan& how) {
  problem const& x = how.shape;
  how.shape = {x.n, x.m, x.k, !x.b_row_major, !x.a_row_major, !x.c_row_major, x.beta_zero};
  std::swap(how.core_m, how.core_n);
  std::swap(how.pads.m, how.pads.n);
}

plan plan_as_run(plan const& how, operand const& a, operand const& b, double beta, operand const& out) {
  problem const& x = how.shape;
  if (how.type != a.type)
    throw nb::value_error(
        fmt::format("plan.dtype = {} must be that of a, {}", dtype_name(how.type), dtype_name(a.type)).c_str());
  if (x.beta_zero && beta != 0)
    throw nb::value_error(fmt::format("beta = {} needs a plan with accumulate = True", beta).c_str());
  if (!fits(a, x.m, x.k, x.a_row_major) || !fits(b, x.k, x.n, x.b_row_major) || !fits(out, x.m, x.n, x.c_row_major)) {
    problem const given{out.view.rows,        out.view.cols,          a.view.cols, is_row_major(a.view),
                        is_row_major(b.view), is_row_major(out.view), x.beta_zero};
    throw nb::value_error(fmt::format("plan ({}) must be that of the product ({})", text(x), text(given)).c_str());
  }
  plan as_run = how;
  bool const transposed = is_row_major(out.view);
  if (transposed) transpose(as_run);
  as_run.shape.a_row_major = is_row_major(transposed ? b.view.transposed() : a.view);
  as_run.shape.b_row_major = is_row_major(transposed ? a.view.transposed() : b.view);
  as_run.shape.c_row_major = false;
  return as_run;
}

}  // namespace heptad::python
