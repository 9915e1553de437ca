// SPDX-License-Identifier: BSD-3-Clause
// From an exact additions program to one that can be run: what costs a pass over a chunk is kept, the rest folded away.
#include <algorithm>

#include "codelets/cpu/combine.hpp"
#include "codelets/cpu/combine_steps.hpp"

namespace heptad::cpu {
namespace {

/// One place of a step is kept for the destination's beta term.
constexpr std::size_t most_terms = max_step_terms - 1;

using terms = std::vector<linear_term>;

/// The program with each value replaced by what `resolved` says it is: one-term steps become names of their term.
struct folded_program {
  std::vector<terms> steps;
  terms outputs;
};

folded_program fold(additions_program const& program) {
  terms resolved(program.inputs);  // value of the program -> coefficient · value of the result; coefficient 0: zero
  for (int i = 0; i < program.inputs; ++i) resolved[i].value = i;
  auto const resolve = [&](linear_term const& x) {
    linear_term const& y = resolved[x.value];
    return linear_term{y.value, x.coefficient * y.coefficient};
  };
  folded_program result;
  auto const append = [&](terms sum) {
    result.steps.push_back(std::move(sum));
    return program.inputs + static_cast<int>(result.steps.size()) - 1;
  };
  for (auto const& step : program.steps) {
    terms sum;
    for (auto const& x : step)
      if (auto const y = resolve(x); !y.coefficient.is_zero()) sum.push_back(y);
    while (sum.size() > most_terms) {
      terms const head(sum.end() - most_terms, sum.end());
      sum.resize(sum.size() - most_terms);
      sum.push_back({append(head), 1});
    }
    if (sum.empty()) {
      resolved.push_back({0, 0});
    } else if (sum.size() == 1) {
      resolved.push_back(sum.front());
    } else {
      resolved.push_back({append(std::move(sum)), 1});
    }
  }
  for (auto const& x : program.outputs)
    result.outputs.push_back(x.coefficient.is_zero() ? linear_term{0, 0} : resolve(x));
  return result;
}

/// Which values the outputs need.
std::vector<bool> needed_values(folded_program const& program, int inputs) {
  std::vector<bool> needed(inputs + program.steps.size(), false);
  for (auto const& x : program.outputs)
    if (!x.coefficient.is_zero()) needed[x.value] = true;
  for (std::size_t s = program.steps.size(); s-- > 0;)
    if (needed[inputs + s])
      for (auto const& x : program.steps[s]) needed[x.value] = true;
  return needed;
}

}  // namespace

template <typename T>
combine_program<T> compile(additions_program const& program) {
  folded_program const folded = fold(program);
  std::vector<bool> const needed = needed_values(folded, program.inputs);
  std::vector<int> renumbered(needed.size(), 0);
  auto const converted = [&](linear_term const& x) {
    return typename combine_program<T>::term{renumbered[x.value], static_cast<T>(x.coefficient.value())};
  };

  combine_program<T> result;
  result.inputs = program.inputs;
  for (int i = 0; i < program.inputs; ++i) renumbered[i] = i;
  for (std::size_t s = 0; s < folded.steps.size(); ++s) {
    if (!needed[program.inputs + s]) continue;
    renumbered[program.inputs + s] = program.inputs + static_cast<int>(result.steps.size());
    auto& sum = result.steps.emplace_back();
    for (auto const& x : folded.steps[s]) sum.push_back(converted(x));
  }
  for (auto const& x : folded.outputs) {
    if (x.coefficient.is_zero()) {
      result.outputs.push_back({0, 0});
    } else {
      result.outputs.push_back(converted(x));
    }
  }
  return result;
}

template combine_program<double> compile<double>(additions_program const&);
template combine_program<float> compile<float>(additions_program const&);

}  // namespace heptad::cpu
