// SPDX-License-Identifier: BSD-3-Clause
// A straight-line program of linear combinations: how the sums of U, V or W are formed with shared subexpressions.
// Values 0 .. inputs-1 are the inputs; step s defines value inputs + s from earlier values.
#pragma once

#include <string>
#include <vector>

#include "src/algorithm/rational.hpp"

namespace heptad {

struct linear_term {
  int value = 0;
  rational coefficient = 1;
  friend bool operator==(linear_term const&, linear_term const&) = default;
};

struct additions_program {
  int inputs = 0;
  std::vector<std::vector<linear_term>> steps;  // value inputs + s = Σ coefficient · value; at least one term each
  std::vector<linear_term> outputs;             // output q = coefficient · value; coefficient 0: the output is zero

  friend bool operator==(additions_program const&, additions_program const&) = default;
};

/// Throws heptad::error when a step is empty or uses a value that is not defined before it, or an output does.
void check(additions_program const& program);

/// Two-operand additions that the program performs: Σ over steps of (terms − 1).
int additions(additions_program const& program);

/// The matrix (inputs × outputs, row-major) that the program multiplies by: entry (i, q) is the coefficient of input i
/// in output q. Throws heptad::error as check() does, and when a coefficient overflows.
std::vector<rational> evaluate(additions_program const& program);

// What follows returns simplified programs: no step of one term (an output may be an input, or a multiple of one), no
// unused step, no value twice in a step, an output that is zero with value 0. Terms and steps keep their order.

/// The program without the given inputs (their value taken as zero). Inputs are renumbered in order over those kept.
additions_program without_inputs(additions_program const& program, std::vector<bool> const& keep);

/// The program that forms only the given outputs, in that order.
additions_program with_outputs(additions_program const& program, std::vector<int> const& outputs);

/// The same sums of inputs in another order: input i of the result is input inputs[i] of the program.
additions_program with_inputs(additions_program const& program, std::vector<int> const& inputs);

/// The program of the transposed matrix (outputs become inputs, and back) by running the steps backwards: additions
/// change by the number of inputs minus that of outputs, so shared subexpressions stay shared (Tellegen's principle).
additions_program transposed(additions_program const& program);

/// The program without shared subexpressions for a coefficient matrix (rows × cols, row-major): one step for each
/// column with two entries or more.
additions_program plain_program(std::vector<rational> const& matrix, int rows, int cols);

}  // namespace heptad
