// SPDX-License-Identifier: BSD-3-Clause
#include "codelets/cuda/combine.hpp"

#include <fmt/format.h>

#include <algorithm>

#include <heptad/heptad.hpp>

namespace heptad::cuda {

combine_program::combine_program(additions_program const& program) {
  auto const code = flat(program);
  for (generated_program const& g : generated_programs())
    if (std::ranges::equal(g.code, code)) {
      generated_ = &g;
      return;
    }
  auto const matrix = evaluate(program);
  std::size_t const outputs = program.outputs.size();
  std::size_t terms = 0;
  outputs_.resize(outputs);
  for (std::size_t q = 0; q < outputs; ++q)
    for (int i = 0; i < program.inputs; ++i) {
      rational const& c = matrix[static_cast<std::size_t>(i) * outputs + q];
      if (!c.is_zero()) outputs_[q].push_back({i, c.value()});
      terms += !c.is_zero();
    }
  if (program.inputs > most_general_inputs || outputs > most_general_outputs || terms > most_general_terms)
    throw error(
        status::invalid_argument,
        fmt::format("a combination of {} blocks into {} with {} terms is beyond the general kernel ({}, {}, {}) "
                    "and has none of its own",
                    program.inputs, outputs, terms, most_general_inputs, most_general_outputs, most_general_terms));
}

template <>
cudaError_t combine_program::launch(cudaStream_t stream, combine_call<double> const& call) const {
  return generated_ != nullptr ? generated_->launch_f64(stream, call) : launch_general<double>(stream, outputs_, call);
}
template <>
cudaError_t combine_program::launch(cudaStream_t stream, combine_call<float> const& call) const {
  return generated_ != nullptr ? generated_->launch_f32(stream, call) : launch_general<float>(stream, outputs_, call);
}

}  // namespace heptad::cuda
