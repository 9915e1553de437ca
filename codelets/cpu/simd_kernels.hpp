// SPDX-License-Identifier: BSD-3-Clause
// Macro-kernel for any vector instruction set, given its traits: V::element, V::vector, V::mask, V::lanes,
// V::tile (columns transposed at once), V::chunk (k-steps between prefetches), V::chunks_ahead (of an A in place that
// are asked for, on into the tile below; 0: few steps of each tile), mr = 3 vectors, nr = V::nr columns; and where a
// processor may compute them by halves, V::computes_halves() and the traits V::half.
// Included only by the files that are compiled for one instruction set; everything is in an unnamed namespace so that
// no two of them share a function.
//
// The micro-kernel keeps 3·nr accumulators in registers, streams packed A from L2 and packed B from L1, and walks down
// a column of tiles by itself. Between k-steps it prefetches the tile of every destination and the next source blocks.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "codelets/cpu/blocks_for_caches.hpp"
#include "codelets/cpu/kernel_set.hpp"
#include "codelets/cpu/simd_packing.hpp"
#include "codelets/cpu/simd_updates.hpp"
#include "codelets/cpu/source_stream.hpp"

namespace heptad::cpu {
namespace {

// Tiles of one shape, below each other and again in the columns beside: where the first one begins, how many there
// are, and how much of each is real.
struct tile_grid {
  int row, col, down, across, rows, cols;
  // Elements between k-steps of A, and between tiles.
  std::int64_t a_step, a_down, b_across, buffer_down, buffer_across;
};

template <typename V>
struct simd_kernels {
  using T = typename V::element;
  using vector = typename V::vector;
  using updates = simd_updates<V>;
  static constexpr int lanes = V::lanes, nr = V::nr, vectors = 3, mr = vectors * lanes;
  static constexpr bool asks_below = V::chunks_ahead > 0;

  // Every product asks for them.
  static blocking blocks() {
    static blocking const found = blocks_for_caches(mr, nr, sizeof(T));
    return found;
  }

  // ---- micro-kernel --------------------------------------------------------------------------------------------

  // Where the micro-kernel finds the next k-step of its operands. Packed B: nr values in a row; unpacked: columns that
  // all move by the same step, reached from few addresses, as registers for one a column are wanted elsewhere.
  struct packed_columns {
    T const* at;
    [[gnu::always_inline]] packed_columns(T const* b, std::int64_t, int) : at(b) {}
    [[gnu::always_inline]] vector operator[](int j) const { return V::broadcast(at[j]); }
    [[gnu::always_inline]] void advance(std::int64_t) { at += nr; }
  };
  template <int NR>
  struct separate_columns {
    T const *first, *third, *sixth, *last;  // columns 0, 3 and 6, and the last real one
    std::int64_t column;
    [[gnu::always_inline]] separate_columns(T const* b, std::int64_t apart, int cols)
        : first(b), third(b + 3 * apart), sixth(b + 6 * apart), last(b + (cols - 1) * apart), column(apart) {}
    [[gnu::always_inline]] vector operator[](int j) const {
      T const* const near = j < 3 ? first : j < 6 ? third : sixth;
      return V::broadcast(j == NR - 1 ? *last : near[j % 3 * column]);
    }
    [[gnu::always_inline]] void advance(std::int64_t step) {
      first += step, third += step, sixth += step, last += step;
    }
  };

  // far: of an A in place, what to ask for meanwhile. Into the second-level cache, if that is early: columns that share
  // sets would not stay in the first one for so long. A vector of it may be in two lines.
  template <int MV, int NR, bool AInPlace, typename B>
  [[gnu::always_inline]] static void steps(int depth, T const*& a, std::int64_t a_step, T const* far, B& b,
                                           std::int64_t b_step, vector (&acc)[NR][MV]) {
    auto const step = [&](vector(&sums)[NR][MV]) __attribute__((always_inline)) {
      vector x[MV];
#pragma GCC unroll 3
      for (int i = 0; i < MV; ++i) x[i] = V::load(a + i * lanes);
      if constexpr (AInPlace) {
#pragma GCC unroll 3
        for (int i = 0; i < MV; ++i) __builtin_prefetch(far + i * lanes, 0, asks_below ? 2 : 3);
        if constexpr (asks_below) __builtin_prefetch(far + MV * lanes - 1, 0, 2);
      }
#pragma GCC unroll 8
      for (int j = 0; j < NR; ++j) {
        vector const y = b[j];
#pragma GCC unroll 3
        for (int i = 0; i < MV; ++i) sums[j][i] = V::fma(x[i], y, sums[j][i]);
      }
      a += a_step;
      if constexpr (AInPlace) {
        far += a_step;
        asm("" : "+r"(far));  // a pointer of its own: the compiler would keep three
      }
      b.advance(b_step);
    };
    // Too few sums to hide the latency of an addition behind each other take turns with as many more.
    constexpr bool few = MV * NR <= 4;
    int p = 0;
    if constexpr (few) {
      vector odd[NR][MV];
      updates::template for_each_vector<MV, NR>([&](int j, int i) { odd[j][i] = V::zero(); });
#pragma GCC unroll 2
      for (; p + 1 < depth; p += 2) step(acc), step(odd);
      updates::template for_each_vector<MV, NR>([&](int j, int i) { acc[j][i] = V::add(acc[j][i], odd[j][i]); });
    }
#pragma GCC unroll 4
    for (; p < depth; ++p) step(acc);
  }

  // A chunk of steps; of a whole tile of packed operands by V::whole_chunk, where there is one.
  template <int MV, int NR, bool AInPlace, typename B>
  [[gnu::always_inline]] static void one_chunk(T const*& a, std::int64_t a_step, T const* far, B& b,
                                               std::int64_t b_step, vector (&acc)[NR][MV]) {
    if constexpr (!AInPlace && std::is_same_v<B, packed_columns> && MV == vectors && NR == nr &&
                  requires { V::whole_chunk(a, b.at, acc); }) {
      V::whole_chunk(a, b.at, acc);
      a += chunk * MV * lanes;
      b.at += chunk * nr;
    } else {
      steps<MV, NR, AInPlace>(chunk, a, a_step, far, b, b_step, acc);
    }
  }

  template <bool InPlace, int NR>
  using columns = std::conditional_t<InPlace, separate_columns<NR>, packed_columns>;

  static constexpr int chunk = V::chunk;
  static constexpr int ahead = 10;  // k-steps, where not chunks
  // k-steps in which a tile of C comes from memory. In fewer the hardware, which follows the columns, is ahead of us.
  static constexpr int deep_enough = 64;

  // Of A in place, what to ask for from step `a` of chunk z on. The last chunks ask for the first ones of the tile
  // below, `run` elements further; those of shallow tiles for their likes there.
  [[gnu::always_inline]] static T const* far_of(T const* a, std::int64_t a_step, std::int64_t run, int z, int chunks) {
    if constexpr (!asks_below) return a + ahead * a_step;
    else if (z + V::chunks_ahead < chunks) return a + V::chunks_ahead * chunk * a_step;
    else return a + run + (chunks < V::chunks_ahead || z == chunks ? 0 : V::chunks_ahead - chunks) * chunk * a_step;
  }

  // Asks for the lines of one tile of every destination: a few of its columns at a time, or rows of a row-major C.
  template <int MV>
  struct tile_prefetch {
    destination<T> const* next;  // after the one whose runs are asked for
    int others;                  // from that one on
    int runs;                    // columns, or rows, of a tile
    std::int64_t offset, apart;
    bool rows;
    int left = 0;  // runs
    T const* at = nullptr;
    static constexpr int line = 64 / sizeof(T);
    [[nodiscard, gnu::always_inline]] bool done() const { return left + others == 0; }
    [[gnu::always_inline]] void advance(int wanted) {
      for (; wanted > 0; --wanted, --left, at += apart) {
        if (left == 0) {
          if (others == 0) return;
          --others;
          left = runs, at = next++->data + offset;
        }
        if (rows) {
          __builtin_prefetch(at, 1, 3);
          __builtin_prefetch(at + nr - 1, 1, 3);
        } else {
#pragma GCC unroll 3
          for (int i = 0; i < MV * lanes; i += line) __builtin_prefetch(at + i, 1, 3);
          __builtin_prefetch(at + MV * lanes - 1, 1, 3);
        }
      }
    }
  };

  // Tiles of MV vectors of rows (`rows` of them real) by NR columns (`cols` of them real).
  template <int MV, int NR, bool AInPlace, typename B>
  static void micro_kernel(macro_call<T> const& call, tile_grid const& grid, T const* a_first, T const* b_first,
                           T* buffer_first) {
    bool const touches_c = call.mode == gather::direct || call.mode == gather::finish;
    bool const whole = call.rs == 1 && grid.rows == MV * lanes && grid.cols == NR;
    auto const usual = whole ? updates::find_usual(call) : updates::usual::none;
    int const chunks = call.depth / chunk, rest = call.depth % chunk;
    bool const by_rows = call.rs != 1 && call.cs == 1;
    int const runs = by_rows ? grid.rows : grid.cols;  // of contiguous elements of C
    int const asked = touches_c && (call.rs == 1 || by_rows) && call.depth >= deep_enough ? call.count : 0;
    int const runs_a_chunk = asked ? (asked * runs + chunks - 1) / chunks : 0;

    for (int across = 0; across < grid.across; ++across, b_first += grid.b_across, buffer_first += grid.buffer_across) {
      T const* a_tile = a_first;
      T* buffer = buffer_first;
      for (int down = 0; down < grid.down; ++down, a_tile += grid.a_down, buffer += grid.buffer_down) {
        std::int64_t const offset = (grid.row + down * MV * lanes) * call.rs + (grid.col + across * nr) * call.cs;
        T const* a = a_tile;
        B b(b_first, call.b_column, grid.cols);
        vector acc[NR][MV];
        updates::template for_each_vector<MV, NR>([&](int j, int i) { acc[j][i] = V::zero(); });

        tile_prefetch<MV> lines{call.destinations, asked, runs, offset, by_rows ? call.rs : call.cs, by_rows};
        for (int z = 0; z < chunks; ++z) {
          if (!lines.done()) lines.advance(runs_a_chunk);
          if (call.prefetch) call.prefetch->advance();
          one_chunk<MV, NR, AInPlace>(a, grid.a_step, far_of(a, grid.a_step, grid.a_down, z, chunks), b, call.b_step,
                                      acc);
        }
        steps<MV, NR, AInPlace>(rest, a, grid.a_step, far_of(a, grid.a_step, grid.a_down, chunks, chunks), b,
                                call.b_step, acc);

        if (usual != updates::usual::none) {
          updates::template one<MV, NR>(acc, call.destinations[0], offset, call.cs, usual);
          continue;
        }
        if (call.mode == gather::add || call.mode == gather::finish)
          updates::template for_each_vector<MV, NR>(
              [&](int j, int i) { acc[j][i] = V::add(acc[j][i], V::load(buffer + (j * MV + i) * lanes)); });
        if (!touches_c) {
          updates::template for_each_vector<MV, NR>(
              [&](int j, int i) { V::store(buffer + (j * MV + i) * lanes, acc[j][i]); });
        } else if (whole) {
          for (int q = 0; q < call.count; ++q) {
            destination<T> const& d = call.destinations[q];
            updates::template whole<MV, NR>(acc, d.data + offset, call.cs, d);
          }
        } else {
          alignas(64) T m[NR * MV * lanes];
          updates::template for_each_vector<MV, NR>(
              [&](int j, int i) { V::store(m + (j * MV + i) * lanes, acc[j][i]); });
          updates::part(m, MV, call, offset, grid.rows, grid.cols);
        }
      }
    }
  }

  // A tile takes as many vectors of rows, and columns in pairs, as its real part needs. A processor that computes
  // vectors by halves needs no more than half of the last one.
  using tile_kernel = void (*)(macro_call<T> const&, tile_grid const&, T const* a, T const* b, T* buffer);
  template <int MV, bool AInPlace, bool BInPlace, int... Pairs>
  static constexpr tile_kernel kernels_of[sizeof...(Pairs)] = {
      micro_kernel<MV, 2 * (Pairs + 1), AInPlace, columns<BInPlace, 2 * (Pairs + 1)>>...};
  template <bool AInPlace, bool BInPlace, int... Pairs>
  static tile_kernel find_kernel(macro_call<T> const& call, int rows, int cols, std::integer_sequence<int, Pairs...>) {
    int const pair = (cols - 1) / 2;
    if constexpr (requires { typename V::half; }) {
      static bool const halved = V::computes_halves();
      using halves = simd_kernels<typename V::half>;
      int const needed = (rows + halves::lanes - 1) / halves::lanes;
      if (needed % 2 == 1 && needed <= vectors && call.rs == 1 && halved)
        return (needed == 1 ? halves::template kernels_of<1, AInPlace, BInPlace, Pairs...>
                            : halves::template kernels_of<3, AInPlace, BInPlace, Pairs...>)[pair];
    }
    static constexpr tile_kernel const* table[vectors] = {kernels_of<1, AInPlace, BInPlace, Pairs...>,
                                                          kernels_of<2, AInPlace, BInPlace, Pairs...>,
                                                          kernels_of<3, AInPlace, BInPlace, Pairs...>};
    return table[(rows - 1) / lanes][pair];
  }

  // Setting up a call takes as long as 2 k-steps, so it walks over columns of tiles too: over all, where their tiles
  // are of one shape; over so many that their B stays in the first-level cache for the second shape, where they are of
  // two.
  static constexpr int near_bytes = 16 << 10;
  template <bool AInPlace, bool BInPlace>
  static void all_tiles(macro_call<T> const& call) {
    int const whole = call.rows / mr, rest = call.rows % mr, across = call.cols / nr, last = call.cols % nr;
    if (call.prefetch)
      call.prefetch->pace(static_cast<std::int64_t>(whole + (rest > 0)) * (across + (last > 0)) * (call.depth / chunk));
    auto const padded = [](int rows) { return static_cast<std::int64_t>((rows + lanes - 1) / lanes * lanes); };
    std::int64_t const a_row = AInPlace ? 1 : call.depth, b_column = BInPlace ? call.b_column : call.depth;
    std::int64_t const buffer_column = padded(call.rows);

    auto const run = [&](int row, int down, int rows, int col, int wide, int cols) {
      tile_grid const grid{.row = row,
                           .col = col,
                           .down = down,
                           .across = wide,
                           .rows = rows,
                           .cols = cols,
                           .a_step = AInPlace ? call.a_step : padded(rows),
                           .a_down = mr * a_row,
                           .b_across = nr * b_column,
                           .buffer_down = mr * nr,
                           .buffer_across = nr * buffer_column};
      auto const kernel = find_kernel<AInPlace, BInPlace>(call, rows, cols, std::make_integer_sequence<int, nr / 2>());
      kernel(call, grid, call.a + row * a_row, call.b + col * b_column, call.buffer + col * buffer_column + row * nr);
    };
    auto const run_columns = [&](int col, int wide, int cols) {
      if (whole > 0) run(0, whole, mr, col, wide, cols);
      if (rest > 0) run(whole * mr, 1, rest, col, wide, cols);
    };
    int const near = near_bytes / (call.depth * nr * static_cast<int>(sizeof(T)));
    int const at_once = whole == 0 || rest == 0 ? across : near > 0 ? near : 1;
    for (int j = 0; j < across; j += at_once) run_columns(j * nr, across - j < at_once ? across - j : at_once, nr);
    if (last > 0) run_columns(across * nr, 1, last);
  }

  static void macro(macro_call<T> const& call) {
    if (call.a_unpacked) call.b_unpacked ? all_tiles<true, true>(call) : all_tiles<true, false>(call);
    else call.b_unpacked ? all_tiles<false, true>(call) : all_tiles<false, false>(call);
  }
};

}  // namespace
}  // namespace heptad::cpu
