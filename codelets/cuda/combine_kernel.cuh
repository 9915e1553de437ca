// SPDX-License-Identifier: BSD-3-Clause
// The kernel around a generated program: a thread owns the same few elements of every operand, reads each input once,
// forms all sums in registers and writes each output once. Outputs may be inputs: all reads of an element come first
// in the program, or its value is in a register by then.
#pragma once

#include <cstdint>

#include "codelets/cuda/vector.cuh"

namespace heptad::cuda {

/// Passed by value: nothing is copied to the device before the launch.
template <typename T, int Inputs, int Outputs>
struct combine_arguments {
  T const* in[Inputs];
  T* out[Outputs];
  std::int64_t ld_in[Inputs], ld_out[Outputs];
  T beta[Outputs];
  std::int64_t rows;   // contiguous elements
  unsigned row_tiles;  // blocks along them
};

/// What a generated program sees: input(i) reads, output(q, v) writes v + beta_q · (what is there).
template <typename Program, typename T, int N, bool Adds>
struct combine_frame {
  using element = T;
  using value = vector<T, N>;
  combine_arguments<T, Program::inputs, Program::outputs> const& a;
  std::int64_t row, col;

  /// Inputs that nothing overwrites may be read ahead of earlier stores.
  __device__ value input(int i) const {
    auto const* const where = reinterpret_cast<value const*>(a.in[i] + col * a.ld_in[i] + row);
    if constexpr (Program::in_place) return *where;
    else return load_constant(where);
  }
  __device__ void output(int q, value v) const {
    value* const where = reinterpret_cast<value*>(a.out[q] + col * a.ld_out[q] + row);
    if (Adds && a.beta[q] != T(0)) v = v + a.beta[q] * *where;
    store(where, v);
  }
};

template <typename Program, typename T, int N, bool Adds>
__global__ void __launch_bounds__(256)
    combine_kernel(__grid_constant__ combine_arguments<T, Program::inputs, Program::outputs> const a) {
  std::int64_t const col = blockIdx.x / a.row_tiles;
  std::int64_t const row = (static_cast<std::int64_t>(blockIdx.x % a.row_tiles) * blockDim.x + threadIdx.x) * N;
  if (row >= a.rows) return;
  combine_frame<Program, T, N, Adds> const f{a, row, col};
  Program::run(f);
}

}  // namespace heptad::cuda
