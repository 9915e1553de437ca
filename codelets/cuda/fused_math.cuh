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
/// By fused multiply-adds: the lanes of a warp are 8 along m, so that a column of C is read and written in whole lines
/// of 128 bytes, and 4 along n; neighbours share rows, so that one pass of shared memory serves two of them.
template <typename Shape>
class scalar_math {
public:
  using T = typename Shape::element;
  static constexpr int width = Shape::width, vectors = Shape::warp_m / (8 * width), columns = Shape::warp_n / 4;
  static constexpr int steps = 1;  // of k, of one multiplication
  using value = vector<T, width>;

  __device__ explicit scalar_math(int thread)
      : row_(thread / 32 % Shape::warps_m * Shape::warp_m + thread / 2 % 8 * width),
        col_(thread / 32 / Shape::warps_m * Shape::warp_n + (thread / 16 % 2 * 2 + thread % 2) * width) {
    HEPTAD_UNROLL
    for (int j = 0; j < columns; ++j) {
      HEPTAD_UNROLL
      for (int v = 0; v < vectors; ++v) sums_[j][v] = value::zero();
    }
  }

  [[nodiscard]] __device__ int row(int v) const { return row_ + 8 * width * v; }
  [[nodiscard]] __device__ int col(int j) const { return col_ + j / width * 4 * width + j % width; }
  [[nodiscard]] __device__ value const& sum(int v, int j) const { return sums_[j][v]; }

  /// Reads step k of the panels into one of two sets of registers.
  __device__ void read(T const* a, T const* b, int k, int set) {
    HEPTAD_UNROLL
    for (int v = 0; v < vectors; ++v)
      a_[set][v] = *reinterpret_cast<value const*>(a + k * Shape::pitch_a + row_ + 8 * width * v);
    HEPTAD_UNROLL
    for (int g = 0; g < columns / width; ++g)
      b_[set][g] = *reinterpret_cast<value const*>(b + k * Shape::pitch_b + col_ + 4 * width * g);
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

/// 16 × 8 of a result += 16 × 4 times 4 × 8, by the lanes of a warp. Lane 4 g + t holds rows g and g + 8 of column t of
/// the first factor, row t of column g of the second, and columns 2 t and 2 t + 1 of rows g and g + 8 of the result.
__device__ inline void multiply_16_8_4(vector<double, 2>& low, vector<double, 2>& high, double x_low, double x_high,
                                       double y) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
      : "+d"(low.x[0]), "+d"(low.x[1]), "+d"(high.x[0]), "+d"(high.x[1])
      : "d"(x_low), "d"(x_high), "d"(y));
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+d"(low.x[0]), "+d"(low.x[1])
      : "d"(x_low), "d"(y));
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+d"(high.x[0]), "+d"(high.x[1])
      : "d"(x_high), "d"(y));
#else
  (void)low, (void)high, (void)x_low, (void)x_high, (void)y;  // older devices are not given such shapes
#endif
}

/// The same for 8 · `Columns` × 4 times 4 × 8 · `Vectors`; of the columns, two neighbours are one multiplication.
template <int Columns, int Vectors>
__device__ void multiply_fragments(vector<double, 2> (&sums)[Columns][Vectors], double const (&x)[Columns],
                                   double const (&y)[Vectors]) {
#ifdef __CUDACC__
  HEPTAD_UNROLL
  for (int v = 0; v < Vectors; ++v) {
    HEPTAD_UNROLL
    for (int j = 0; j < Columns; j += 2) multiply_16_8_4(sums[j][v], sums[j + 1][v], x[j], x[j + 1], y[v]);
  }
#else
  shim_multiply_fragments(sums, x, y);
#endif
}

/// By FP64 tensor cores. The first factor of each multiplication is Bᵀ, so that a thread has neighbouring rows of C.
template <typename Shape>
class tensor_math {
public:
  using T = double;
  static constexpr int width = Shape::width, vectors = Shape::warp_m / 8, columns = Shape::warp_n / 8;
  static constexpr int steps = 4;
  using value = vector<double, width>;

  __device__ explicit tensor_math(int thread)
      : at_a_(thread % 4 * Shape::pitch_a + first_row(thread) + thread % 32 / 4),
        at_b_(thread % 4 * Shape::pitch_b + first_col(thread) + thread % 32 / 4) {
    HEPTAD_UNROLL
    for (int j = 0; j < columns; ++j) {
      HEPTAD_UNROLL
      for (int v = 0; v < vectors; ++v) sums_[j][v] = value::zero();
    }
  }

  [[nodiscard]] __device__ int row(int v) const {
    int const thread = static_cast<int>(threadIdx.x);
    return first_row(thread) + 8 * v + thread % 4 * 2;
  }
  [[nodiscard]] __device__ int col(int j) const {
    int const thread = static_cast<int>(threadIdx.x);
    return first_col(thread) + 8 * j + thread % 32 / 4;
  }
  [[nodiscard]] __device__ value const& sum(int v, int j) const { return sums_[j][v]; }

  __device__ void read(double const* a, double const* b, int k, int set) {
    double const* const from_a = a + k * Shape::pitch_a + at_a_;
    double const* const from_b = b + k * Shape::pitch_b + at_b_;
    HEPTAD_UNROLL
    for (int j = 0; j < columns; ++j) b_[set][j] = from_b[8 * j];
    HEPTAD_UNROLL
    for (int v = 0; v < vectors; ++v) a_[set][v] = from_a[8 * v];
  }

  __device__ void multiply(int set) { multiply_fragments(sums_, b_[set], a_[set]); }

private:
  [[nodiscard]] __device__ static int first_row(int thread) { return thread / 32 % Shape::warps_m * Shape::warp_m; }
  [[nodiscard]] __device__ static int first_col(int thread) { return thread / 32 / Shape::warps_m * Shape::warp_n; }

  int at_a_, at_b_;  // in the panels
  value sums_[columns][vectors];
  double a_[2][vectors], b_[2][columns];
};

template <typename Shape>
using tile_math = std::conditional_t<Shape::tensor, tensor_math<Shape>, scalar_math<Shape>>;

}  // namespace heptad::cuda
