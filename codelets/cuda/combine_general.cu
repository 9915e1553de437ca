// SPDX-License-Identifier: BSD-3-Clause
// The general combine kernel and scale: for programs that the build does not know, and to test those that it does.
#include "codelets/cuda/combine_launch.cuh"

namespace heptad::cuda {
namespace {

template <typename T>
struct general_arguments {
  T const* in[most_general_inputs];
  T* out[most_general_outputs];
  std::int64_t ld_in[most_general_inputs], ld_out[most_general_outputs];
  T beta[most_general_outputs];
  std::int16_t terms[most_general_outputs];  // of output q
  std::int16_t input[most_general_terms];    // of each term, output after output
  T coefficient[most_general_terms];
  int outputs;
  std::int64_t rows;
  unsigned row_tiles;
};

template <typename T>
__global__ void __launch_bounds__(256) general_kernel(__grid_constant__ general_arguments<T> const a) {
  std::int64_t const col = blockIdx.x / a.row_tiles;
  std::int64_t const row = static_cast<std::int64_t>(blockIdx.x % a.row_tiles) * blockDim.x + threadIdx.x;
  if (row >= a.rows) return;
  T sums[most_general_outputs];  // an output may be an input: everything is read before anything is written
  for (int q = 0, t = 0; q < a.outputs; ++q) {
    T* const where = a.out[q] + col * a.ld_out[q] + row;
    T sum = a.beta[q] != T(0) ? a.beta[q] * *where : T(0);
    for (int end = t + a.terms[q]; t < end; ++t) {
      int const i = a.input[t];
      sum += a.coefficient[t] * a.in[i][col * a.ld_in[i] + row];
    }
    sums[q] = sum;
  }
  for (int q = 0; q < a.outputs; ++q) a.out[q][col * a.ld_out[q] + row] = sums[q];
}

/// Of a launch that scales: C may have more columns than a launch has blocks, so that each takes every so many-th tile.
constexpr std::int64_t most_scale_blocks = std::int64_t{1} << 20;

template <typename T>
__global__ void __launch_bounds__(256)
    scale_kernel(T beta, T* X, std::int64_t ld, std::int64_t rows, std::int64_t row_tiles, std::int64_t tiles) {
  for (std::int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    std::int64_t const row = tile % row_tiles * blockDim.x + threadIdx.x;
    if (row >= rows) continue;
    T& x = X[tile / row_tiles * ld + row];
    x = beta == T(0) ? T(0) : beta * x;
  }
}

}  // namespace

template <typename T>
cudaError_t launch_general(cudaStream_t stream, std::span<std::vector<combine_program::term> const> terms,
                           combine_call<T> const& call) {
  if (call.rows == 0 || call.cols == 0) return cudaSuccess;
  general_arguments<T> a;
  for (std::size_t i = 0; i < call.inputs.size(); ++i) a.in[i] = call.inputs[i].data, a.ld_in[i] = call.inputs[i].ld;
  int next = 0;
  for (std::size_t q = 0; q < call.outputs.size(); ++q) {
    combine_output<T> const& y = call.outputs[q];
    a.out[q] = y.data, a.ld_out[q] = y.ld, a.beta[q] = y.beta;
    a.terms[q] = static_cast<std::int16_t>(terms[q].size());
    for (combine_program::term const& t : terms[q]) {
      a.input[next] = static_cast<std::int16_t>(t.input);
      a.coefficient[next++] = static_cast<T>(t.coefficient);
    }
  }
  a.outputs = static_cast<int>(call.outputs.size());
  a.rows = call.rows;
  unsigned const threads = threads_for(call.rows);
  std::int64_t const tiles = (call.rows + threads - 1) / threads;
  a.row_tiles = static_cast<unsigned>(tiles);
  return launch(general_kernel<T>, tiles * call.cols, threads, stream, a);
}

template <typename T>
cudaError_t launch_scale(cudaStream_t stream, T beta, T* X, std::int64_t ld, std::int64_t rows, std::int64_t cols) {
  if (rows == 0 || cols == 0) return cudaSuccess;
  unsigned const threads = threads_for(rows);
  std::int64_t const row_tiles = (rows + threads - 1) / threads, tiles = row_tiles * cols;
  return launch(scale_kernel<T>, std::min(tiles, most_scale_blocks), threads, stream, beta, X, ld, rows, row_tiles,
                tiles);
}

#define HEPTAD_FOR(T)                                                                                    \
  template cudaError_t launch_general(cudaStream_t, std::span<std::vector<combine_program::term> const>, \
                                      combine_call<T> const&);                                           \
  template cudaError_t launch_scale(cudaStream_t, T, T*, std::int64_t, std::int64_t, std::int64_t);
HEPTAD_FOR(double)
HEPTAD_FOR(float)
#undef HEPTAD_FOR

}  // namespace heptad::cuda
