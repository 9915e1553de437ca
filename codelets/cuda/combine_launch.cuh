// SPDX-License-Identifier: BSD-3-Clause
// From the arguments of a pass to a launch of its kernel: as wide as alignment and registers allow.
#pragma once

#include <algorithm>

#include "codelets/cuda/combine.hpp"
#include "codelets/cuda/combine_kernel.cuh"

namespace heptad::cuda {

inline unsigned threads_for(std::int64_t elements) {
  return static_cast<unsigned>(std::clamp<std::int64_t>((elements + 31) / 32 * 32, 32, 256));
}

/// More than these are refused: a device would run another number of them.
constexpr std::int64_t most_blocks = 0x7fffffff;

template <typename... Formal, typename... Actual>
cudaError_t launch(void (*kernel)(Formal...), std::int64_t blocks, unsigned threads, cudaStream_t stream,
                   Actual const&... arguments) {
  if (blocks > most_blocks) return cudaErrorInvalidValue;
  cudaLaunchConfig_t config{};
  config.gridDim.x = static_cast<unsigned>(blocks);
  config.blockDim.x = threads;
  config.stream = stream;
  return cudaLaunchKernelEx(&config, kernel, Formal(arguments)...);
}

/// Every operand starts, and every column follows, at a multiple of N elements, and so do the rows.
template <typename T, int N>
bool is_aligned(combine_call<T> const& call) {
  auto const fits = [](void const* data, std::int64_t ld) {
    return reinterpret_cast<std::uintptr_t>(data) % (N * sizeof(T)) == 0 && ld % N == 0;
  };
  return call.rows % N == 0 &&
         std::ranges::all_of(call.inputs, [&](combine_input<T> const& x) { return fits(x.data, x.ld); }) &&
         std::ranges::all_of(call.outputs, [&](combine_output<T> const& y) { return fits(y.data, y.ld); });
}

template <typename Program, typename T, int N, bool Adds>
cudaError_t launch_as(cudaStream_t stream, combine_call<T> const& call) {
  combine_arguments<T, Program::inputs, Program::outputs> a;
  for (int i = 0; i < Program::inputs; ++i) a.in[i] = call.inputs[i].data, a.ld_in[i] = call.inputs[i].ld;
  for (int q = 0; q < Program::outputs; ++q) {
    combine_output<T> const& y = call.outputs[q];
    a.out[q] = y.data, a.ld_out[q] = y.ld, a.beta[q] = y.beta;
  }
  a.rows = call.rows;
  std::int64_t const values = (call.rows + N - 1) / N;
  unsigned const threads = threads_for(values);
  std::int64_t const tiles = (values + threads - 1) / threads;
  a.row_tiles = static_cast<unsigned>(tiles);
  return launch(combine_kernel<Program, T, N, Adds>, tiles * call.cols, threads, stream, a);
}

/// Programs with many values live at a time have one narrow width, the others 16 bytes where all is aligned to them.
template <typename Program, typename T>
cudaError_t launch_generated(cudaStream_t stream, combine_call<T> const& call) {
  if (call.rows == 0 || call.cols == 0) return cudaSuccess;
  constexpr int wide = Program::live_values <= 24 ? 16 / sizeof(T) : Program::live_values <= 48 ? 8 / sizeof(T) : 1;
  bool const adds = std::ranges::any_of(call.outputs, [](combine_output<T> const& y) { return y.beta != T(0); });
  if constexpr (Program::may_add) {
    if (adds)
      return is_aligned<T, wide>(call) ? launch_as<Program, T, wide, true>(stream, call)
                                       : launch_as<Program, T, 1, true>(stream, call);
  }
  if (adds) return cudaErrorInvalidValue;  // sums go to workspace: nothing is there
  return is_aligned<T, wide>(call) ? launch_as<Program, T, wide, false>(stream, call)
                                   : launch_as<Program, T, 1, false>(stream, call);
}

}  // namespace heptad::cuda
