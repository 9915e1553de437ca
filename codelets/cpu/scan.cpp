// SPDX-License-Identifier: BSD-3-Clause
#include "codelets/cpu/scan.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <numeric>
#include <type_traits>
#include <utility>

#include "codelets/cpu/combine_steps.hpp"

namespace heptad::cpu {
namespace {

// Bytes of the running maxima across the lines: they stay in the first-level cache beside the lines.
constexpr std::int64_t segment_bytes = 16 << 10;

/// Lines are contiguous, `step` elements apart.
template <typename T>
void scan_contiguous(T const* X, std::int64_t lines, std::int64_t length, std::int64_t step, T* of_places,
                     T* of_lines) {
  auto const run = best_combine_kernels<T>().scan;
  request const how = best_far_access().inputs;
  constexpr std::int64_t segment = segment_bytes / static_cast<std::int64_t>(sizeof(T));
  for (std::int64_t first = 0; first < length; first += segment) {
    std::int64_t const size = std::min(segment, length - first);
    for (std::int64_t line = 0; line < lines;) {
      int const count = line + scan_lines <= lines ? scan_lines : 1;
      T const *from[scan_lines] = {}, *next[scan_lines] = {};
      for (int q = 0; q < count; ++q) {
        std::int64_t const place = std::min(line + count + q, lines - 1);  // the last lines are asked for twice
        from[q] = X + (line + q) * step + first;
        next[q] = X + place * step + first;
      }
      run(from, next, count, size, how, of_places + first, of_lines + line);
      line += count;
    }
  }
}

}  // namespace

template <typename T>
T larger_magnitude(T x, T y) {
  using bits = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;
  return std::bit_cast<bits>(x) > std::bit_cast<bits>(y) ? x : y;
}

template <typename T>
void scan(T const* X, std::int64_t rows, std::int64_t cols, std::int64_t row_stride, std::int64_t col_stride,
          T* of_rows, T* of_cols) {
  if (row_stride == 1) return scan_contiguous(X, cols, rows, col_stride, of_rows, of_cols);
  if (col_stride == 1) return scan_contiguous(X, rows, cols, row_stride, of_cols, of_rows);
  for (std::int64_t j = 0; j < cols; ++j)
    for (std::int64_t i = 0; i < rows; ++i) {
      T const x = std::abs(X[i * row_stride + j * col_stride]);
      of_rows[i] = larger_magnitude(of_rows[i], x);
      of_cols[j] = larger_magnitude(of_cols[j], x);
    }
}

template <typename T>
T largest_magnitude(T const* X, std::int64_t rows, std::int64_t cols, std::int64_t row_stride,
                    std::int64_t col_stride) {
  constexpr std::int64_t chunk = 512;
  T places[chunk + look_lanes<T>] = {};
  T* const of_line = places + chunk;
  auto const look = [&](std::int64_t lines, std::int64_t length, std::int64_t step) {
    for (std::int64_t line = 0; line < lines; ++line)
      for (std::int64_t first = 0; first < length; first += chunk)
        best_combine_kernels<T>().look(X + line * step + first, std::min(chunk, length - first), places, of_line);
  };
  if (row_stride == 1) look(cols, rows, col_stride);
  else if (col_stride == 1) look(rows, cols, row_stride);
  else
    for (std::int64_t j = 0; j < cols; ++j)
      for (std::int64_t i = 0; i < rows; ++i)
        *of_line = larger_magnitude(*of_line, std::abs(X[i * row_stride + j * col_stride]));
  return std::accumulate(std::begin(places), std::end(places), T(0), larger_magnitude<T>);
}

template double largest_magnitude(double const*, std::int64_t, std::int64_t, std::int64_t, std::int64_t);
template float largest_magnitude(float const*, std::int64_t, std::int64_t, std::int64_t, std::int64_t);
template double larger_magnitude(double, double);
template float larger_magnitude(float, float);
template void scan(double const*, std::int64_t, std::int64_t, std::int64_t, std::int64_t, double*, double*);
template void scan(float const*, std::int64_t, std::int64_t, std::int64_t, std::int64_t, float*, float*);

}  // namespace heptad::cpu
