// SPDX-License-Identifier: BSD-3-Clause
// Transformations of additions programs. All of them rewrite values into multiples of earlier values, then drop what
// is no longer used.
#include "src/algorithm/additions_program.hpp"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include <heptad/heptad.hpp>

namespace heptad {
namespace {

constexpr linear_term zero{0, 0};

/// Adds coefficient · value to a sum; a term that cancels goes.
void add_term(std::vector<linear_term>& sum, linear_term term) {
  if (term.coefficient.is_zero()) return;
  auto const same = std::find_if(sum.begin(), sum.end(), [&](linear_term const& t) { return t.value == term.value; });
  if (same == sum.end()) {
    sum.push_back(term);
    return;
  }
  same->coefficient = same->coefficient + term.coefficient;
  if (same->coefficient.is_zero()) sum.erase(same);
}

linear_term times(rational coefficient, linear_term term) {
  rational const product = coefficient * term.coefficient;
  return product.is_zero() ? zero : linear_term{term.value, product};
}

/// Drops the steps that no output needs.
additions_program without_unused(additions_program const& program) {
  std::vector<bool> used(program.inputs + program.steps.size(), false);
  for (linear_term const& output : program.outputs)
    if (!output.coefficient.is_zero()) used[output.value] = true;
  for (std::size_t s = program.steps.size(); s-- > 0;)
    if (used[program.inputs + s])
      for (linear_term const& term : program.steps[s]) used[term.value] = true;

  additions_program result{program.inputs, {}, program.outputs};
  std::vector<int> number(used.size());
  for (int i = 0; i < program.inputs; ++i) number[i] = i;
  for (std::size_t s = 0; s < program.steps.size(); ++s) {
    if (!used[program.inputs + s]) continue;
    number[program.inputs + s] = result.inputs + static_cast<int>(result.steps.size());
    std::vector<linear_term>& step = result.steps.emplace_back(program.steps[s]);
    for (linear_term& term : step) term.value = number[term.value];
  }
  for (linear_term& output : result.outputs) output.value = output.coefficient.is_zero() ? 0 : number[output.value];
  return result;
}

/// Runs the steps over new inputs: input i of the program stands for become[i]. Simplified.
additions_program substituted(additions_program const& program, std::vector<linear_term> become, int inputs) {
  check(program);
  additions_program result{inputs, {}, {}};
  for (std::vector<linear_term> const& step : program.steps) {
    std::vector<linear_term> sum;
    for (linear_term const& term : step) add_term(sum, times(term.coefficient, become[term.value]));
    if (sum.size() < 2) {
      become.push_back(sum.empty() ? zero : sum.front());
    } else {
      become.push_back({inputs + static_cast<int>(result.steps.size()), 1});
      result.steps.push_back(std::move(sum));
    }
  }
  for (linear_term const& output : program.outputs)
    result.outputs.push_back(output.coefficient.is_zero() ? zero : times(output.coefficient, become[output.value]));
  return without_unused(result);
}

std::vector<linear_term> same_inputs(int inputs) {
  std::vector<linear_term> become(inputs);
  for (int i = 0; i < inputs; ++i) become[i].value = i;
  return become;
}

}  // namespace

void check(additions_program const& program) {
  if (program.inputs < 0)
    throw error(status::invalid_argument, fmt::format("an additions program has {} inputs", program.inputs));
  int defined = program.inputs;
  auto const check_term = [&](linear_term const& term, char const* place) {
    if (term.value < 0 || term.value >= defined)
      throw error(status::invalid_argument, fmt::format("{} of an additions program uses value {}, but {} are defined",
                                                        place, term.value, defined));
  };
  for (std::vector<linear_term> const& step : program.steps) {
    if (step.empty()) throw error(status::invalid_argument, "a step of an additions program has no term");
    for (linear_term const& term : step) check_term(term, "a step");
    ++defined;
  }
  for (linear_term const& output : program.outputs)
    if (!output.coefficient.is_zero()) check_term(output, "an output");
}

int additions(additions_program const& program) {
  int count = 0;
  for (std::vector<linear_term> const& step : program.steps) count += static_cast<int>(step.size()) - 1;
  return count;
}

std::vector<rational> evaluate(additions_program const& program) {
  check(program);
  std::size_t const inputs = program.inputs;
  std::size_t const outputs = program.outputs.size();
  std::vector<rational> matrix(inputs * outputs);
  // Backwards from one output at a time: weight[v] is what value v contributes to it, so that memory stays linear.
  std::vector<rational> weight(inputs + program.steps.size());
  for (std::size_t q = 0; q < outputs; ++q) {
    if (program.outputs[q].coefficient.is_zero()) continue;
    std::fill(weight.begin(), weight.end(), rational(0));
    weight[program.outputs[q].value] = program.outputs[q].coefficient;
    for (std::size_t s = program.steps.size(); s-- > 0;) {
      rational const w = weight[inputs + s];
      if (w.is_zero()) continue;
      for (linear_term const& term : program.steps[s]) weight[term.value] = weight[term.value] + w * term.coefficient;
    }
    for (std::size_t i = 0; i < inputs; ++i) matrix[i * outputs + q] = weight[i];
  }
  return matrix;
}

additions_program without_inputs(additions_program const& program, std::vector<bool> const& keep) {
  if (keep.size() != static_cast<std::size_t>(program.inputs))
    throw error(status::invalid_argument,
                fmt::format("keep has {} entries, not one for each of {} inputs", keep.size(), program.inputs));
  std::vector<linear_term> become;
  become.reserve(keep.size());
  int kept = 0;
  for (bool const k : keep) become.push_back(k ? linear_term{kept++, 1} : zero);
  return substituted(program, std::move(become), kept);
}

additions_program with_outputs(additions_program const& program, std::vector<int> const& outputs) {
  additions_program chosen{program.inputs, program.steps, {}};
  for (int const q : outputs) {
    if (q < 0 || static_cast<std::size_t>(q) >= program.outputs.size())
      throw error(status::invalid_argument,
                  fmt::format("output {} is asked of an additions program of {}", q, program.outputs.size()));
    chosen.outputs.push_back(program.outputs[q]);
  }
  return substituted(chosen, same_inputs(program.inputs), program.inputs);
}

additions_program with_inputs(additions_program const& program, std::vector<int> const& inputs) {
  std::vector<linear_term> become(program.inputs, zero);
  bool permutation = inputs.size() == become.size();
  for (std::size_t i = 0; permutation && i < inputs.size(); ++i) {
    permutation = inputs[i] >= 0 && inputs[i] < program.inputs && become[inputs[i]].coefficient.is_zero();
    if (permutation) become[inputs[i]] = {static_cast<int>(i), 1};
  }
  if (!permutation)
    throw error(status::invalid_argument, fmt::format("the {} inputs are not a permutation", program.inputs));
  return substituted(program, std::move(become), program.inputs);
}

additions_program transposed(additions_program const& program) {
  check(program);
  int const values = program.inputs + static_cast<int>(program.steps.size());
  // Who uses value v, and with which coefficient: outputs first, then the steps.
  std::vector<std::vector<linear_term>> uses(values);
  additions_program backwards;
  backwards.inputs = static_cast<int>(program.outputs.size());
  for (int q = 0; q < backwards.inputs; ++q) {
    linear_term const& output = program.outputs[q];
    if (!output.coefficient.is_zero()) uses[output.value].push_back({q, output.coefficient});
  }
  std::vector<int> adjoint(values);  // value of the backward program that stands for v
  auto const emit = [&](int v) {
    // A value without use stands for zero.
    if (uses[v].empty()) uses[v].push_back(zero);
    adjoint[v] = backwards.inputs + static_cast<int>(backwards.steps.size());
    backwards.steps.push_back(uses[v]);
  };
  for (int s = static_cast<int>(program.steps.size()) - 1; s >= 0; --s) {
    int const v = program.inputs + s;
    emit(v);
    for (linear_term const& term : program.steps[s]) uses[term.value].push_back({adjoint[v], term.coefficient});
  }
  for (int i = 0; i < program.inputs; ++i) {
    emit(i);
    backwards.outputs.push_back({adjoint[i], 1});
  }
  return substituted(backwards, same_inputs(backwards.inputs), backwards.inputs);
}

additions_program plain_program(std::vector<rational> const& matrix, int rows, int cols) {
  if (rows < 0 || cols < 0 || matrix.size() != static_cast<std::size_t>(rows) * cols)
    throw error(status::invalid_argument,
                fmt::format("a matrix of {} entries is not {} × {}", matrix.size(), rows, cols));
  additions_program program{rows, {}, {}};
  for (int q = 0; q < cols; ++q) {
    std::vector<linear_term> sum;
    for (int i = 0; i < rows; ++i) {
      rational const& entry = matrix[static_cast<std::size_t>(i) * cols + q];
      if (!entry.is_zero()) sum.push_back({i, entry});
    }
    if (sum.size() < 2) {
      program.outputs.push_back(sum.empty() ? zero : sum.front());
    } else {
      program.outputs.push_back({rows + static_cast<int>(program.steps.size()), 1});
      program.steps.push_back(std::move(sum));
    }
  }
  return program;
}

}  // namespace heptad
