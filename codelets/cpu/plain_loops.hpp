// SPDX-License-Identifier: BSD-3-Clause
// The loops around a micro-kernel in plain C++, for the sets that bring no loops of their own: packing into
// zero-padded panels, walking the tiles of a macro-kernel, and updating the destinations from a finished tile.
#pragma once

#include <algorithm>
#include <cstdint>

#include "codelets/cpu/kernel_set.hpp"
#include "codelets/cpu/magnitude.hpp"

namespace heptad::cpu {

/// Elements of the largest tile (mr × nr) that for_each_tile takes.
inline constexpr int max_tile = 1024;

/// Packs Σ coefficient · block (rows × depth at element strides rs, cs) into panels of `width` rows: element (i, p) of
/// panel i / width goes to p · width + i % width. The last panel is zero-padded. At least one term. `largest` as in
/// kernel_set.
template <typename T>
void pack_panels(term<T> const* terms, int count, std::int64_t rs, std::int64_t cs, int rows, int depth, int width,
                 T* packed, T* largest) {
  for (int first = 0; first < rows; first += width, packed += std::int64_t(width) * depth) {
    int const height = std::min(width, rows - first);
    for (int p = 0; p < depth; ++p) {
      T* const to = packed + std::int64_t(p) * width;
      std::fill_n(to, width, T(0));
      for (int t = 0; t < count; ++t) {
        if (p >= terms[t].steps) continue;
        T const* const column = terms[t].data + first * rs + p * cs;
        for (int i = 0; i < height; ++i) to[i] += terms[t].coefficient * column[i * rs];
        if (largest != nullptr)
          for (int i = 0; i < height; ++i) raise_magnitude(*largest, column[i * rs]);
      }
    }
  }
}

/// C := beta C + coefficient · tile, rows × cols at `offset` in every destination; the tile is column-major.
template <typename T>
void update_destinations(macro_call<T> const& call, std::int64_t offset, int rows, int cols, T const* tile, int ld) {
  for (int d = 0; d < call.count; ++d) {
    auto const [data, coefficient, beta] = call.destinations[d];
    for (int j = 0; j < cols; ++j) {
      T const* M = tile + j * ld;
      T* C = data + offset + j * call.cs;
      std::int64_t const rs = call.rs;
      if (beta == T(0))
        for (int i = 0; i < rows; ++i) C[i * rs] = coefficient * M[i];
      else if (beta == T(1))
        for (int i = 0; i < rows; ++i) C[i * rs] += coefficient * M[i];
      else
        for (int i = 0; i < rows; ++i) C[i * rs] = beta * C[i * rs] + coefficient * M[i];
    }
  }
}

/// The macro-kernel over whole panels: micro(rows, cols, A, B, beta, tile, ld) computes tile := beta tile + A·B, with
/// beta 0 or 1, from one panel of A and one of B. The buffer holds the tiles densely, column of tiles by column, each
/// column-major, so that it needs rows × cols elements and no padding.
template <typename T, typename Micro>
void for_each_tile(macro_call<T> const& call, int mr, int nr, Micro const& micro) {
  bool const gathered = call.mode != gather::direct;
  T const beta = call.mode == gather::add || call.mode == gather::finish ? T(1) : T(0);
  bool const update = call.mode == gather::direct || call.mode == gather::finish;
  alignas(64) T local[max_tile];
  for (int j = 0; j < call.cols; j += nr) {
    int const cols = std::min(nr, call.cols - j);
    for (int i = 0; i < call.rows; i += mr) {
      int const rows = std::min(mr, call.rows - i);
      T* const tile = gathered ? call.buffer + std::int64_t(j) * call.rows + std::int64_t(i) * cols : local;
      int const ld = gathered ? rows : mr;
      micro(rows, cols, call.a + std::int64_t(i) * call.depth, call.b + std::int64_t(j) * call.depth, beta, tile, ld);
      if (update) update_destinations(call, i * call.rs + j * call.cs, rows, cols, tile, ld);
    }
  }
}

}  // namespace heptad::cpu
