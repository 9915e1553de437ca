// SPDX-License-Identifier: BSD-3-Clause
// Packing and macro-kernel for any vector instruction set, given its traits: V::element, V::vector, V::lanes,
// V::tile (columns transposed at once), mr = 3 vectors, nr = V::nr columns. Included only by the files that are
// compiled for one instruction set; everything is in an unnamed namespace so that no two of them share a function.
//
// The micro-kernel keeps 3·nr accumulators in registers and streams packed A from L2 and packed B from L1. Between
// k-steps it prefetches the tile of every destination and, in the background, the next source blocks.
#pragma once

#include <cstdint>
#include <type_traits>

#include "codelets/cpu/kernel_set.hpp"
#include "codelets/cpu/source_stream.hpp"

namespace heptad::cpu {
namespace {

template <typename V>
struct simd_kernels {
  using T = typename V::element;
  using vector = typename V::vector;
  static constexpr int lanes = V::lanes, nr = V::nr, vectors = 3, mr = vectors * lanes;
  static constexpr int tile = V::tile;

  // ---- packing -------------------------------------------------------------------------------------------------

  // Σ coefficient · block at one vector; Count = 0: any number of terms.
  template <int Count>
  [[gnu::always_inline]] static vector sum(term<T> const* terms, int count, std::int64_t offset) {
    vector x = V::load(terms[0].data + offset);
    if (Count == 1 && terms[0].coefficient == T(1)) return x;
    x = V::mul(V::broadcast(terms[0].coefficient), x);
    int const n = Count ? Count : count;
#pragma GCC unroll 4
    for (int q = 1; q < n; ++q) x = V::fma(V::broadcast(terms[q].coefficient), V::load(terms[q].data + offset), x);
    return x;
  }
  static T sum_one(term<T> const* terms, int count, std::int64_t offset) {
    T x = 0;
    for (int q = 0; q < count; ++q) x += terms[q].coefficient * terms[q].data[offset];
    return x;
  }

  // The panel's width is contiguous: copy W vectors a step, `depth` steps.
  template <int Count, int W>
  [[gnu::always_inline]] static void pack_along(term<T> const* terms, int count, std::int64_t offset, std::int64_t ds,
                                                int depth, T* packed) {
    for (int p = 0; p < depth; ++p, offset += ds, packed += W * lanes)
#pragma GCC unroll 3
      for (int i = 0; i < W; ++i) V::store(packed + i * lanes, sum<Count>(terms, count, offset + i * lanes));
  }

  // The same for panels narrower than a vector.
  template <int Count>
  [[gnu::always_inline]] static void pack_narrow(term<T> const* terms, int count, std::int64_t offset, std::int64_t ds,
                                                 int depth, T* packed) {
    int const n = Count ? Count : count;
    for (int p = 0; p < depth; ++p, offset += ds, packed += nr) {
      T x[nr] = {};
      for (int q = 0; q < n; ++q)
        for (int c = 0; c < nr; ++c) x[c] += terms[q].coefficient * terms[q].data[offset + c];
      for (int c = 0; c < nr; ++c) packed[c] = x[c];
    }
  }

  // The depth is contiguous: transpose `tile` columns by `lanes` steps at a time into a panel of `padded` elements.
  template <int Count>
  [[gnu::always_inline]] static void pack_across(term<T> const* terms, int count, std::int64_t offset, std::int64_t ws,
                                                 int depth, int padded, T* packed) {
    int p = 0;
    for (; p + lanes <= depth; p += lanes) {
      vector r[tile];
#pragma GCC unroll 8
      for (int c = 0; c < tile; ++c) {
        r[c] = sum<Count>(terms, count, offset + c * ws + p);
      }
      V::store_transposed(r, packed + static_cast<std::int64_t>(p) * padded, padded);
    }
    for (; p < depth; ++p)
      for (int c = 0; c < tile; ++c) packed[p * padded + c] = sum_one(terms, count, offset + c * ws + p);
  }

  // Panels of `full` elements of the width, in chunks of a few steps over all panels where the width is contiguous, so
  // that the source is read in long runs. The last panel is rounded up to `granule` and filled with zeros.
  template <int Count, int W>
  static void pack(term<T> const* terms, int count, std::int64_t ws, std::int64_t ds, int width, int depth, int granule,
                   T* packed) {
    constexpr int full = W ? W * lanes : nr, chunk = 8;
    int const whole = ws == 1 || ds == 1 ? width / full : 0;
    std::int64_t const panel = static_cast<std::int64_t>(full) * depth;
    if (ws == 1) {
      for (int p = 0; p < depth; p += chunk) {
        int const steps = p + chunk <= depth ? chunk : depth - p;
        for (int i = 0; i < whole; ++i) {
          T* const to = packed + i * panel + static_cast<std::int64_t>(p) * full;
          if constexpr (W != 0)
            pack_along<Count, W>(terms, count, static_cast<std::int64_t>(i) * full + p * ds, ds, steps, to);
          else pack_narrow<Count>(terms, count, static_cast<std::int64_t>(i) * full + p * ds, ds, steps, to);
        }
      }
    } else {
      for (int i = 0; i < whole; ++i)
        for (int c = 0; c < full; c += tile)
          pack_across<Count>(terms, count, (static_cast<std::int64_t>(i) * full + c) * ws, ws, depth, full,
                             packed + i * panel + c);
    }
    for (int first = whole * full; first < width; first += full) {
      int const rest = width - first < full ? width - first : full;
      pack_plain(terms, count, ws, ds, first, rest, (rest + granule - 1) / granule * granule, depth,
                 packed + static_cast<std::int64_t>(first) * depth);
    }
  }
  static void pack_plain(term<T> const* terms, int count, std::int64_t ws, std::int64_t ds, int first, int width,
                         int padded, int depth, T* packed) {
    for (int p = 0; p < depth; ++p)
      for (int i = 0; i < padded; ++i)
        packed[static_cast<std::int64_t>(p) * padded + i] =
            i < width ? sum_one(terms, count, (first + i) * ws + p * ds) : T(0);
  }

  template <int W>
  static void pack_any(term<T> const* terms, int count, std::int64_t ws, std::int64_t ds, int width, int depth,
                       int granule, T* packed) {
    switch (count) {
      case 1:
        return pack<1, W>(terms, count, ws, ds, width, depth, granule, packed);
      case 2:
        return pack<2, W>(terms, count, ws, ds, width, depth, granule, packed);
      case 3:
        return pack<3, W>(terms, count, ws, ds, width, depth, granule, packed);
      case 4:
        return pack<4, W>(terms, count, ws, ds, width, depth, granule, packed);
      default:
        return pack<0, W>(terms, count, ws, ds, width, depth, granule, packed);
    }
  }
  static void pack_a(term<T> const* terms, int count, std::int64_t rs, std::int64_t cs, int rows, int depth,
                     T* packed) {
    pack_any<vectors>(terms, count, rs, cs, rows, depth, lanes, packed);
  }
  static void pack_b(term<T> const* terms, int count, std::int64_t rs, std::int64_t cs, int depth, int cols,
                     T* packed) {
    pack_any<nr % lanes == 0 ? nr / lanes : 0>(terms, count, cs, rs, cols, depth, nr, packed);
  }

  // ---- micro-kernel --------------------------------------------------------------------------------------------

  // Where the micro-kernel finds the next k-step of its operands. Packed B: nr values in a row; unpacked: one address a
  // column, all moving by the same step.
  struct packed_columns {
    T const* at;
    [[gnu::always_inline]] packed_columns(T const* b, std::int64_t, int) : at(b) {}
    [[gnu::always_inline]] vector operator[](int j) const { return V::broadcast(at[j]); }
    [[gnu::always_inline]] void advance(std::int64_t) { at += nr; }
  };
  struct separate_columns {
    T const* at[nr];
    std::int64_t offset = 0;
    [[gnu::always_inline]] separate_columns(T const* b, std::int64_t column, int cols) {
#pragma GCC unroll 8
      for (int j = 0; j < nr; ++j) at[j] = b + (j < cols ? j : cols - 1) * column;
    }
    [[gnu::always_inline]] vector operator[](int j) const { return V::broadcast(at[j][offset]); }
    [[gnu::always_inline]] void advance(std::int64_t step) { offset += step; }
  };

  template <int MV, typename B>
  [[gnu::always_inline]] static void steps(int depth, T const*& a, std::int64_t a_step, B& b, std::int64_t b_step,
                                           vector (&acc)[nr][MV]) {
    constexpr int ahead = 10;  // k-steps of A asked for in advance
#pragma GCC unroll 4
    for (int p = 0; p < depth; ++p) {
      vector x[MV];
#pragma GCC unroll 3
      for (int i = 0; i < MV; ++i) x[i] = V::load(a + i * lanes);
#pragma GCC unroll 3
      for (int i = 0; i < MV; ++i) __builtin_prefetch(a + ahead * a_step + i * lanes, 0, 3);
#pragma GCC unroll 8
      for (int j = 0; j < nr; ++j) {
        vector const y = b[j];
#pragma GCC unroll 3
        for (int i = 0; i < MV; ++i) acc[j][i] = V::fma(x[i], y, acc[j][i]);
      }
      a += a_step;
      b.advance(b_step);
    }
  }

  // Asks for the lines of `cols` columns of one tile of every destination, a few columns at a time.
  struct tile_prefetch {
    destination<T> const* d;
    std::int64_t offset, cs;
    int cols, left, bytes;  // left: columns not yet asked for, over all destinations
    int column = 0;
    [[gnu::always_inline]] void advance(int columns) {
      for (; columns > 0 && left > 0; --columns, --left) {
        char const* c = reinterpret_cast<char const*>(d->data + offset + column * cs);
        for (int byte = 0; byte < bytes; byte += 64) __builtin_prefetch(c + byte, 1, 3);
        __builtin_prefetch(c + bytes - 1, 1, 3);
        if (++column == cols) column = 0, ++d;
      }
    }
  };

  // One tile: MV vectors of rows (`rows` of them real) by `cols` real columns.
  template <int MV, typename B>
  static void micro_kernel(macro_call<T> const& call, T const* a, T const* b_first, int row, int col, int rows,
                           int cols, T* buffer) {
    vector acc[nr][MV];
#pragma GCC unroll 8
    for (int j = 0; j < nr; ++j)
#pragma GCC unroll 3
      for (int i = 0; i < MV; ++i) acc[j][i] = V::zero();

    bool const touches_c = call.mode == gather::direct || call.mode == gather::finish;
    bool const columns_contiguous = call.rs == 1;
    B b(b_first, call.b_column, cols);
    std::int64_t const a_step = call.a_unpacked ? call.a_step : MV * lanes;
    constexpr int chunk = 8;
    int const chunks = call.depth / chunk;
    tile_prefetch lines{call.destinations,
                        row * call.rs + col * call.cs,
                        call.cs,
                        cols,
                        touches_c && columns_contiguous ? call.count * cols : 0,
                        rows * static_cast<int>(sizeof(T))};
    int const columns_a_chunk = chunks ? (lines.left + chunks - 1) / chunks : 0;
    for (int z = 0; z < chunks; ++z) {
      lines.advance(columns_a_chunk);
      if (call.prefetch) call.prefetch->advance();
      steps<MV>(chunk, a, a_step, b, call.b_step, acc);
    }
    steps<MV>(call.depth - chunks * chunk, a, a_step, b, call.b_step, acc);

    if (call.mode == gather::add || call.mode == gather::finish) {
#pragma GCC unroll 8
      for (int j = 0; j < nr; ++j)
#pragma GCC unroll 3
        for (int i = 0; i < MV; ++i) acc[j][i] = V::add(acc[j][i], V::load(buffer + (j * MV + i) * lanes));
    }
    if (!touches_c) {
#pragma GCC unroll 8
      for (int j = 0; j < nr; ++j)
#pragma GCC unroll 3
        for (int i = 0; i < MV; ++i) V::store(buffer + (j * MV + i) * lanes, acc[j][i]);
      return;
    }
    if (columns_contiguous && rows == MV * lanes && cols == nr) {
      for (int q = 0; q < call.count; ++q) {
        destination<T> const& d = call.destinations[q];
        update_whole<MV>(acc, d.data + row + col * call.cs, call.cs, d.coefficient, d.beta);
      }
    } else {  // edges and strided C: through a small tile
      alignas(64) T m[nr * MV * lanes];
#pragma GCC unroll 8
      for (int j = 0; j < nr; ++j)
#pragma GCC unroll 3
        for (int i = 0; i < MV; ++i) V::store(m + (j * MV + i) * lanes, acc[j][i]);
      for (int q = 0; q < call.count; ++q) update_part(m, MV * lanes, call, call.destinations[q], row, col, rows, cols);
    }
  }

  template <int MV>
  [[gnu::always_inline]] static void update_whole(vector const (&acc)[nr][MV], T* c, std::int64_t cs, T coefficient,
                                                  T beta) {
    vector const w = V::broadcast(coefficient);
    auto for_each_vector = [&](auto&& combine) {
#pragma GCC unroll 8
      for (int j = 0; j < nr; ++j)
#pragma GCC unroll 3
        for (int i = 0; i < MV; ++i) {
          T* at = c + j * cs + i * lanes;
          V::store(at, combine(acc[j][i], at));
        }
    };
    if (beta == T(0)) {
      for_each_vector([&](vector m, T*) { return V::mul(w, m); });
    } else if (beta == T(1)) {
      for_each_vector([&](vector m, T* at) { return V::fma(w, m, V::load(at)); });
    } else {
      vector const s = V::broadcast(beta);
      for_each_vector([&](vector m, T* at) { return V::fma(s, V::load(at), V::mul(w, m)); });
    }
  }

  [[gnu::noinline]] static void update_part(T const* m, int ld, macro_call<T> const& call, destination<T> const& d,
                                            int row, int col, int rows, int cols) {
    T* const c = d.data + row * call.rs + col * call.cs;
    for (int j = 0; j < cols; ++j)
      for (int i = 0; i < rows; ++i) {
        T& at = c[i * call.rs + j * call.cs];
        T const x = d.coefficient * m[j * ld + i];
        at = d.beta == T(0) ? x : x + d.beta * at;
      }
  }

  template <typename B>
  static void all_tiles(macro_call<T> const& call) {
    int const padded_rows = (call.rows + lanes - 1) / lanes * lanes;
    if (call.prefetch)
      call.prefetch->pace(static_cast<std::int64_t>((call.rows + mr - 1) / mr) * ((call.cols + nr - 1) / nr) *
                          (call.depth / 8));
    for (int j = 0; j < call.cols; j += nr) {
      int const cols = call.cols - j < nr ? call.cols - j : nr;
      T const* b = call.b + j * (std::is_same_v<B, packed_columns> ? call.depth : call.b_column);
      for (int i = 0; i < call.rows; i += mr) {
        int const rows = call.rows - i < mr ? call.rows - i : mr;
        T const* a = call.a + i * (call.a_unpacked ? std::int64_t(1) : call.depth);
        T* buffer = call.buffer + static_cast<std::int64_t>(j) * padded_rows + static_cast<std::int64_t>(i) * nr;
        switch ((rows + lanes - 1) / lanes) {
          case 3:
            micro_kernel<3, B>(call, a, b, i, j, rows, cols, buffer);
            break;
          case 2:
            micro_kernel<2, B>(call, a, b, i, j, rows, cols, buffer);
            break;
          default:
            micro_kernel<1, B>(call, a, b, i, j, rows, cols, buffer);
            break;
        }
      }
    }
  }

  static void macro(macro_call<T> const& call) {
    if (call.b_unpacked) all_tiles<separate_columns>(call);
    else all_tiles<packed_columns>(call);
  }
};

}  // namespace
}  // namespace heptad::cpu
