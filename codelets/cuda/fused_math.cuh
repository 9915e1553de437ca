// SPDX-License-Identifier: BSD-3-Clause
// The part of a tile of C that one thread computes, in its registers: how it reads the panels, multiplies, and hands
// out the result. The reading of one step of k runs ahead of the multiplication of the step before.
#pragma once

#include "codelets/cuda/fused_geometry.hpp"
#include "codelets/cuda/vector.cuh"

#ifdef __CUDACC__
#define HEPTAD_UNROLL _Pragma("unroll")
#else
#define HEPTAD_UNROLL
#endif

namespace heptad::cuda {

/// A thread of a warp owns `columns` × `vectors` vectors of neighbouring rows, at row(v), col(j).
template <typename T>
class tile_math;

/// FP32 by fused multiply-adds. The lanes of a warp are 8 along m, so that a column of C is read and written in whole
/// lines of 128 bytes, and 4 along n; neighbours share rows, so that one pass of shared memory serves two of them.
template <>
class tile_math<float> {
public:
  using shape = tile_shape<float>;
  static constexpr int width = shape::width, vectors = 4, columns = 8;
  static constexpr int steps = 1;  // of k, of one multiplication
  using value = vector<float, width>;

  __device__ explicit tile_math(int thread)
      : row_(thread / 32 % shape::warps_m * shape::warp_m + thread / 2 % 8 * width),
        col_(thread / 32 / shape::warps_m * shape::warp_n + (thread / 16 % 2 * 2 + thread % 2) * width) {
    HEPTAD_UNROLL
    for (int j = 0; j < columns; ++j) {
      HEPTAD_UNROLL
      for (int v = 0; v < vectors; ++v) sums_[j][v] = value::zero();
    }
  }

  [[nodiscard]] __device__ int row(int v) const { return row_ + 32 * v; }
  [[nodiscard]] __device__ int col(int j) const { return col_ + j / width * 16 + j % width; }
  [[nodiscard]] __device__ value const& sum(int v, int j) const { return sums_[j][v]; }

  /// Reads step k of the panels into one of two sets of registers.
  __device__ void read(float const* a, float const* b, int k, int set) {
    HEPTAD_UNROLL
    for (int v = 0; v < vectors; ++v)
      a_[set][v] = *reinterpret_cast<value const*>(a + k * shape::pitch_a + row_ + 32 * v);
    HEPTAD_UNROLL
    for (int g = 0; g < columns / width; ++g)
      b_[set][g] = *reinterpret_cast<value const*>(b + k * shape::pitch_b + col_ + 16 * g);
  }

  /// To and fro through the columns: neighbours share one operand or the other, which then need not be read again.
  __device__ void multiply(int set) {
    HEPTAD_UNROLL
    for (int j = 0; j < columns; ++j) {
      HEPTAD_UNROLL
      for (int i = 0; i < vectors * width; ++i) {
        int const row = j % 2 == 0 ? i : vectors * width - 1 - i, v = row / width, e = row % width;
        sums_[j][v].x[e] += a_[set][v].x[e] * b_[set][j / width].x[j % width];
      }
    }
  }

private:
  int row_, col_;
  value sums_[columns][vectors];
  value a_[2][vectors], b_[2][columns / width];
};

}  // namespace heptad::cuda
