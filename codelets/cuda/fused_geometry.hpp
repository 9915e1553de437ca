// SPDX-License-Identifier: BSD-3-Clause
// Who does what in a fused product: which tile of which product a thread block computes, which elements of a panel a
// thread brings, which elements of the tile it owns. Index arithmetic alone, for the device and for the tests.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <tuple>

#include "src/matrix/limits.hpp"

namespace heptad::cuda {

/// C cut into tiles; the last ones may reach beyond it.
struct tile_grid {
  int rows, cols;

  [[nodiscard]] __host__ __device__ constexpr std::int64_t tiles() const { return std::int64_t{rows} * cols; }
};

struct tile_place {
  int product, row, col;
};

/// Items go product by product, so that visits of a tile of C are far apart. Within a product they go in bands of tile
/// rows, column by column: the tiles under way at a time then share few rows of A and columns of B.
__host__ __device__ constexpr tile_place place_of(std::int64_t item, tile_grid const& grid, int band) {
  std::int64_t const tiles = grid.tiles(), within = item % tiles;
  std::int64_t const whole = std::int64_t{band} * grid.cols;
  int const first = static_cast<int>(within / whole) * band;
  int const height = grid.rows - first < band ? grid.rows - first : band;
  int const rest = static_cast<int>(within % whole);
  return {static_cast<int>(item / tiles), first + rest % height, rest / height};
}

inline constexpr int band_of_tiles = 16;

/// A panel is `side` lines of an operand × `depth` steps of k. It travels in vectors of 16 bytes, some for each thread:
/// vector v of a thread begins at (line + v · line_step, step).
struct panel_place {
  int line, step;
};

/// `Side` × `Depth` elements by `Threads` threads, `Width` neighbours at a time: along k where k is contiguous, else
/// along the lines. Vectors of a thread are evenly spaced lines of the same steps. Along k, sixteen threads bring two
/// vectors of eight lines, which meet no bank of shared memory twice when they are written there transposed.
template <int Side, int Depth, int Threads, int Width>
struct panel_share {
  static constexpr int vectors = Side * Depth / (Threads * Width);
  static_assert(vectors * Threads * Width == Side * Depth && Threads % Depth == 0 && Depth % (2 * Width) == 0);

  __host__ __device__ static constexpr panel_place first(int thread, bool along_k) {
    constexpr int line_threads = Threads / Depth, pairs = Depth / (2 * Width);
    int const sixteen = thread / 16;
    return along_k ? panel_place{sixteen / pairs * 8 + thread / 2 % 8, (sixteen % pairs * 2 + thread % 2) * Width}
                   : panel_place{thread % line_threads * Width, thread / line_threads};
  }
  __host__ __device__ static constexpr int line_step(bool along_k) {
    return along_k ? Threads * Width / Depth : Threads / Depth * Width;
  }
};

/// The tile of C of one thread block, cut into equal parts for its warps. `Tensor`: multiplied on tensor cores.
template <typename T, bool Tensor, int WarpsM, int WarpsN, int WarpM, int WarpN, int Resident>
struct tile_shape {
  using element = T;
  static constexpr bool tensor = Tensor;
  static constexpr int width = 16 / sizeof(T);  // elements of a vector
  static constexpr int warps_m = WarpsM, warps_n = WarpsN, warp_m = WarpM, warp_n = WarpN;
  static constexpr int m = warps_m * warp_m, n = warps_n * warp_n, depth = 8;
  static constexpr int threads = 32 * warps_m * warps_n;
  static constexpr int resident = Resident;               // thread blocks on a multiprocessor, by their registers
  static constexpr int pitch_a = m + 4, pitch_b = n + 4;  // of a step of k in shared memory: no bank twice
  static constexpr int stage = depth * (pitch_a + pitch_b);
  static constexpr int shared_bytes = (2 * stage + 2 * most_fused_terms) * int(sizeof(T));  // and the factors

  using share_a = panel_share<m, depth, threads, width>;
  using share_b = panel_share<n, depth, threads, width>;

  [[nodiscard]] __host__ __device__ static constexpr tile_grid grid(std::int64_t rows, std::int64_t cols) {
    return {static_cast<int>((rows + m - 1) / m), static_cast<int>((cols + n - 1) / n)};
  }
};

/// The compiled shapes of a type, by the numbers of fused_tiles.
template <typename T>
struct compiled_shapes;

template <>
struct compiled_shapes<float> {
  using list = std::tuple<tile_shape<float, false, 2, 4, 128, 32, 1>,  //
                          tile_shape<float, false, 1, 8, 128, 32, 1>,  //
                          tile_shape<float, false, 2, 4, 64, 32, 2>>;
};

/// The last is for devices without FP64 tensor cores.
template <>
struct compiled_shapes<double> {
  using list = std::tuple<tile_shape<double, true, 2, 2, 64, 32, 2>,  //
                          tile_shape<double, true, 2, 2, 32, 32, 3>,  //
                          tile_shape<double, false, 2, 2, 32, 32, 2>>;
};

template <typename T, int Number>
using compiled_shape = std::tuple_element_t<Number, typename compiled_shapes<T>::list>;

}  // namespace heptad::cuda
