// SPDX-License-Identifier: BSD-3-Clause
// Few columns of B beside an A in place, for any vector instruction set, given its traits V (see simd_kernels.hpp). A
// slab of A, of two vectors of rows and few k-steps, stays in the first-level cache while it meets all columns, in
// tiles of equal widths that take as many registers as there are; meanwhile the next slab is asked for.
#pragma once

#include <cstdint>
#include <utility>

#include "codelets/cpu/kernel_set.hpp"
#include "codelets/cpu/simd_kernels.hpp"
#include "codelets/cpu/simd_packing.hpp"
#include "codelets/cpu/simd_updates.hpp"

namespace heptad::cpu {
namespace {

template <typename V>
struct simd_slabs {
  using T = typename V::element;
  using vector = typename V::vector;
  using kernels = simd_kernels<V>;
  using updates = simd_updates<V>;
  static constexpr int lanes = V::lanes, nr = V::nr, most_columns = V::most_columns;
  static constexpr int vectors = V::wide_vectors, rows = vectors * lanes;
  static constexpr int at_once = 8;  // k-steps written out
  static_assert(most_columns <= 2 * nr);

  // Of so many columns: the first `wider` tiles have width + 1.
  struct cut {
    int tiles, width, wider;
    explicit cut(int cols)
        : tiles((cols + most_columns - 1) / most_columns), width(cols / tiles), wider(cols % tiles) {}
  };
  // Calls `with` the first column of every tile, its number of columns and its part of the packed B. Every tile begins
  // a panel of nr columns.
  template <typename P, typename With>
  [[gnu::always_inline]] static void for_each_tile(int cols, int depth, P* packed, With const& with) {
    cut const into(cols);
    for (int t = 0, col = 0; t < into.tiles; ++t) {
      int const columns = into.width + (t < into.wider);
      with(col, columns, packed);
      col += columns;
      packed += static_cast<std::int64_t>(columns + nr - 1) / nr * nr * depth;
    }
  }

  static void pack_b(term<T> const* terms, int count, std::int64_t rs, std::int64_t cs, int depth, int cols, T* packed,
                     T* largest) {
    for_each_tile(cols, depth, packed, [&](int col, int columns, T* to) {
      term<T> moved[most_terms];
      for (int q = 0; q < count; ++q) moved[q] = {terms[q].data + col * cs, terms[q].coefficient, terms[q].steps};
      simd_packing<V>::pack_b(moved, count, rs, cs, depth, columns, to, largest);
    });
  }

  struct two_panels {
    T const *first, *second;
    [[gnu::always_inline]] T column(int p, int j) const { return (j < nr ? first : second - nr)[p * nr + j]; }
    [[gnu::always_inline]] void after_step() {}
    [[gnu::always_inline]] void after_steps(int count) { first += count * nr, second += count * nr; }
  };

  // The columns of the next slab, asked for a few at a time: into the second-level cache, as the first one has places
  // for too few lines that memory is to send (1188 rows by 6 columns in double: twice as fast; Zen 4).
  struct next_slab {
    T const* at;
    std::int64_t step;  // elements
    int left, per_turn;
    [[gnu::always_inline]] void advance() {
      for (int n = per_turn < left ? per_turn : left; n > 0; --n, --left, at += step) {
        __builtin_prefetch(at, 0, 2);
        __builtin_prefetch(at + rows - 1, 0, 2);
      }
    }
  };

  // What all tiles of a slab share.
  struct slab {
    macro_call<T> const& call;
    T const* a;
    int row, count;  // of rows
    typename updates::usual usual;
    next_slab next;
  };

  template <int MV, int NR>
  static void tile(slab& s, T const* packed, int col) {
    using column = typename updates::template column<2 * MV>;
    macro_call<T> const& call = s.call;
    T const* a = s.a;
    T* no_copy = nullptr;
    two_panels b{packed, packed + static_cast<std::int64_t>(nr) * call.depth};
    vector acc[NR][MV];
    kernels::set_to_zero(acc);
    next_slab next = s.next;
    int p = 0;
#pragma GCC unroll 1
    for (; p + at_once <= call.depth; p += at_once) {
      next.advance();
      kernels::template steps<column, NR, a_from::near, at_once, false>(a, call.a_step, nullptr, no_copy, b, acc);
    }
#pragma GCC unroll 1
    for (; p < call.depth; ++p)
      kernels::template steps<column, NR, a_from::near, 1, false>(a, call.a_step, nullptr, no_copy, b, acc);
    s.next = next;
    std::int64_t const offset = s.row * call.rs + col * call.cs;
    bool const whole = call.rs == 1 && s.count == column::padded;
    if (whole && s.usual != updates::usual::none)
      updates::template one<column, NR>(acc, call.destinations[0], offset, call.cs, s.usual);
    else updates::template to_destinations<column, NR>(acc, call, offset, s.count, whole);
  }

  template <int MV>
  static void all_columns(slab& s) {
    static constexpr auto table = []<int... J>(std::integer_sequence<int, J...>) {
      struct tiles {
        void (*of[most_columns])(slab&, T const*, int);
      };
      return tiles{{tile<MV, J + 1>...}};
    }
    (std::make_integer_sequence<int, most_columns>());
    for_each_tile(s.call.cols, s.call.depth, s.call.b,
                  [&](int col, int columns, T const* b) { table.of[columns - 1](s, b, col); });
  }

  static void macro(macro_call<T> const& call) {
    auto const usual = updates::find_usual(call);
    int const tiles = cut(call.cols).tiles;
    for (int row = 0; row < call.rows; row += rows) {
      int const below = call.rows - row - rows, here = below < 0 ? below + rows : rows;
      // After the last slab comes the first one of the next k-steps.
      T const* const next = below > 0 ? call.a + row + rows : call.a + call.depth * call.a_step;
      slab s{.call = call,
             .a = call.a + row,
             .row = row,
             .count = here,
             .usual = usual,
             .next = {.at = next,
                      .step = call.a_step,
                      .left = below > 0 ? call.depth : call.following_steps,
                      .per_turn = (at_once + tiles - 1) / tiles}};
      if (here > lanes) all_columns<vectors>(s);
      else all_columns<1>(s);
    }
  }
};

}  // namespace
}  // namespace heptad::cpu
