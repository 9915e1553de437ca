// SPDX-License-Identifier: BSD-3-Clause
#include "codelets/cuda/flat.hpp"

#include <algorithm>

namespace heptad::cuda {

std::vector<std::int32_t> flat(additions_program const& program) {
  std::vector<std::int32_t> code{program.inputs, static_cast<std::int32_t>(program.steps.size()),
                                 static_cast<std::int32_t>(program.outputs.size())};
  auto const add = [&code](linear_term const& t) {
    code.push_back(t.value);
    code.push_back(static_cast<std::int32_t>(t.coefficient.num()));
    code.push_back(static_cast<std::int32_t>(t.coefficient.den()));
  };
  for (auto const& step : program.steps) {
    code.push_back(static_cast<std::int32_t>(step.size()));
    std::ranges::for_each(step, add);
  }
  std::ranges::for_each(program.outputs, add);
  return code;
}

}  // namespace heptad::cuda
