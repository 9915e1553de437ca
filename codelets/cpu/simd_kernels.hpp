// SPDX-License-Identifier: BSD-3-Clause
// Macro-kernel for any vector instruction set, given its traits:
// V::element, V::vector, V::mask, V::lanes; V::registers: vectors that they hold; V::tile: columns transposed at once;
// V::nr: columns of a tile of mr = 3 vectors of rows; V::most_columns: of the last one, which has V::wide_vectors of
// rows if it has more than nr; V::narrow: see cut_columns; V::halves: whether half a vector may take half as long;
// V::in_two_turns(processor): whether it does there; V::chunk: k-steps between prefetches; V::chunks_ahead: those in
// which an A in place is asked for ahead, on into the tile below, half as many into the first-level cache (0: a few
// steps, of each tile, into that one).
//
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

// Where an operand is: packed, or in place. There A may be near, which is read in a loop that the hardware follows or
// in unrolled steps that it does not; left packed on the way, in steps like those; or far enough to be asked for ahead:
// into the second-level cache, or, where its columns are spread over the sets of the first one, into that.
enum class a_from { packed, near, unrolled, copied, far, spread };
enum class b_from { packed, columns, rows, strided };
constexpr bool is_asked(a_from a) { return a == a_from::far || a == a_from::spread; }

// Tiles of one shape, below each other and again in the columns beside: where the first one begins, how many there
// are, and how many rows of each are real.
struct tile_grid {
  int row, col, down, across, rows;
  std::int64_t a_down, b_across, buffer_down, buffer_across;  // elements between tiles
  std::int64_t a_step, b_step;                                // elements between k-steps
  std::int64_t b_apart;                                       // elements between columns
};

template <typename V>
struct simd_kernels {
  using T = typename V::element;
  using vector = typename V::vector;
  using updates = simd_updates<V>;
  static constexpr int lanes = V::lanes, nr = V::nr, vectors = 3, mr = vectors * lanes;
  static constexpr bool asks_below = V::chunks_ahead > 0;
  // Beside the sums of a tile, a step of A and a value of B. Without any, GCC 12 moves sums from one to another
  // wherever a loop of k-steps begins or ends, so there are as few loops as may be.
  static constexpr bool registers_to_spare = vectors * (nr + 1) + 1 < V::registers;
  template <int Halves, bool Apart = false>
  using column = typename updates::template column<Halves, Apart>;

  static blocking blocks() { return blocks_for_caches<mr, nr, sizeof(T)>(); }

  // ---- micro-kernel --------------------------------------------------------------------------------------------

  // Where the micro-kernel finds column j of B in k-step p of a few: packed, nr values a step; columns reached from few
  // addresses, as registers for one a column are wanted elsewhere; or rows.
  struct packed_b {
    T const* at;
    [[gnu::always_inline]] packed_b(macro_call<T> const&, tile_grid const&, T const* b) : at(b) {}
    [[gnu::always_inline]] T column(int p, int j) const { return at[p * nr + j]; }
    [[gnu::always_inline]] void after_step() {}
    [[gnu::always_inline]] void after_steps(int count) { at += count * nr; }
  };
  struct columns_of_b {
    T const *first, *third, *sixth;  // columns 0, 3 and 6
    std::int64_t apart, twice;
    [[gnu::always_inline]] columns_of_b(macro_call<T> const& call, tile_grid const&, T const* b)
        : first(b),
          third(b + 3 * call.b_column),
          sixth(b + 6 * call.b_column),
          apart(call.b_column),
          twice(2 * call.b_column) {}
    [[gnu::always_inline]] T column(int p, int j) const {
      T const* const near = j < 3 ? first : j < 6 ? third : sixth;
      return (near + (j % 3 == 2 ? twice : j % 3 * apart))[p];
    }
    // The asm keeps the compiler from holding an address for every column, or adding one offset to each of these.
    [[gnu::always_inline]] void after_step() { asm("" : "+r"(apart), "+r"(twice)); }
    [[gnu::always_inline]] void after_steps(int count) {
      first += count, third += count, sixth += count;
      asm("" : "+r"(first), "+r"(third), "+r"(sixth));
    }
  };
  struct rows_of_b {
    T const* at;
    std::int64_t step;
    [[gnu::always_inline]] rows_of_b(macro_call<T> const&, tile_grid const& grid, T const* b)
        : at(b), step(grid.b_step) {}
    [[gnu::always_inline]] T column(int, int j) const { return at[j]; }
    [[gnu::always_inline]] void after_step() { at += step; }
    [[gnu::always_inline]] void after_steps(int) {}
  };
  // Columns and steps any distance apart, and the columns beyond nr, which may be in another panel, as well.
  template <int NR>
  struct strided_b {
    T const *first, *third, *sixth;  // columns 0, 3 and 6
    std::int64_t apart, twice, step, beyond, after_that;
    [[gnu::always_inline]] strided_b(macro_call<T> const&, tile_grid const& grid, T const* b)
        : first(b),
          third(b + 3 * grid.b_apart),
          sixth(b + 6 * grid.b_apart),
          apart(grid.b_apart),
          twice(2 * grid.b_apart),
          step(grid.b_step),
          beyond(grid.b_across),
          after_that(grid.b_across + grid.b_apart) {}
    [[gnu::always_inline]] T column(int, int j) const {
      if (j >= nr) return first[j == nr ? beyond : after_that];
      T const* const near = j < 3 ? first : j < 6 ? third : sixth;
      return near[j % 3 == 2 ? twice : j % 3 * apart];
    }
    [[gnu::always_inline]] void after_step() {
      first += step;
      asm("" : "+r"(first), "+r"(apart), "+r"(twice));
      if constexpr (NR > 3) {
        third += step;
        asm("" : "+r"(third));
      }
      if constexpr (NR > 6) {
        sixth += step;
        asm("" : "+r"(sixth));
      }
    }
    [[gnu::always_inline]] void after_steps(int) {}
  };
  template <int NR, b_from From>
  using b_source =
      std::conditional_t<From == b_from::packed, packed_b,
                         std::conditional_t<From == b_from::columns, columns_of_b,
                                            std::conditional_t<From == b_from::rows, rows_of_b, strided_b<NR>>>>;

  static constexpr int chunk = V::chunk, few_sums = 4;

  // V::fma into the register of c. Free to choose one, the compiler ends unrolled steps in moves between registers.
  [[gnu::always_inline]] static vector fma_in_place(vector a, vector b, vector c) {
    if constexpr (sizeof(T) == sizeof(double)) asm("vfmadd231pd %2, %1, %0" : "+v"(c) : "v"(a), "v"(b));
    else asm("vfmadd231ps %2, %1, %0" : "+v"(c) : "v"(a), "v"(b));
    return c;
  }
  // Of the first halves; the second ones become zero.
  [[gnu::always_inline]] static vector half_fma_in_place(vector a, vector b, vector c) {
    if constexpr (sizeof(T) == sizeof(double)) asm("vfmadd231pd %t2, %t1, %t0" : "+v"(c) : "v"(a), "v"(b));
    else asm("vfmadd231ps %t2, %t1, %t0" : "+v"(c) : "v"(a), "v"(b));
    return c;
  }

  template <int MV, int NR>
  [[gnu::always_inline]] static void set_to_zero(vector (&sums)[NR][MV]) {
    updates::template for_each_vector<MV, NR>([&](int j, int i) { sums[j][i] = V::zero(); });
  }

  template <typename Rows>
  [[gnu::always_inline]] static vector broadcast(T x) {
    if constexpr (Rows::all_halves) return V::broadcast_half(x);
    else return V::broadcast(x);
  }

  // One k-step after the other, with addresses that are constants apart where they can be: on a core that shares its
  // issue slots with a second thread every instruction beside the multiplications counts.
  // First: of the tile, whose sums begin here.
  // far: of A, what to ask for meanwhile. A vector of it may be in two lines. copy: where to leave a copied A.
  template <typename Rows, int NR, a_from A, int Steps, bool First, typename B, int MV = Rows::count>
  [[gnu::always_inline]] static void steps(T const*& a, std::int64_t a_step, T const* far, T*& copy, B& b,
                                           vector (&acc)[NR][MV]) {
    // Too few sums to hide the latency of an addition behind each other take turns with as many more.
    constexpr bool few = MV * NR <= few_sums && Steps > 1;
    vector odd[few ? NR : 1][MV];
    if constexpr (few) set_to_zero<MV, NR>(odd);
#pragma GCC unroll 16
    for (int p = 0; p < Steps; ++p) {
      vector x[MV];
#pragma GCC unroll 3
      for (int i = 0; i < MV; ++i) x[i] = Rows::load(a, i);
      if constexpr (A == a_from::copied) {
#pragma GCC unroll 3
        for (int i = 0; i < MV; ++i) V::store(copy + i * lanes, x[i]);
        copy += Rows::padded;
      }
      if constexpr (is_asked(A)) {
        constexpr int level = asks_below && A == a_from::far ? 2 : 3;
#pragma GCC unroll 3
        for (int i = 0; i < MV; ++i) __builtin_prefetch(far + Rows::first(i), 0, level);
        if constexpr (asks_below) __builtin_prefetch(far + Rows::padded - 1, 0, level);
        far += a_step;
        asm("" : "+r"(far));  // a pointer of its own: the compiler would keep three
      }
#pragma GCC unroll 16
      for (int j = 0; j < NR; ++j) {
        vector const y = broadcast<Rows>(b.column(p, j));
#pragma GCC unroll 3
        for (int i = 0; i < MV; ++i) {
          vector& sum = few && p % 2 == 1 ? odd[few ? j : 0][i] : acc[j][i];
          if (First && p == 0 && Rows::is_half(i)) sum = half_fma_in_place(x[i], y, V::zero());
          else if (First && p == 0) sum = V::mul(x[i], y);
          else if (Rows::is_half(i)) sum = half_fma_in_place(x[i], y, sum);
          else if constexpr (MV > 1) sum = fma_in_place(x[i], y, sum);
          else sum = V::fma(x[i], y, sum);
        }
      }
      if constexpr (A == a_from::packed) a += Rows::padded;
      else a += a_step;
      if constexpr (A != a_from::packed) asm("" : "+r"(a));
      b.after_step();
    }
    b.after_steps(Steps);
    if constexpr (few)
      updates::template for_each_vector<MV, NR>([&](int j, int i) { acc[j][i] = V::add(acc[j][i], odd[j][i]); });
  }

  template <typename Rows, int NR, a_from A, bool First, typename B, int MV = Rows::count>
  [[gnu::always_inline]] static void one_chunk(T const*& a, std::int64_t a_step, T const* far, T*& copy, B& b,
                                               vector (&acc)[NR][MV]) {
    // The hardware learns the steps of an A in place from loads that are the same instruction every time: 2, 4 and 5
    // columns of C are 1.05 to 1.3 times as fast so where A is far (measured on a Zen 4; 3 columns 0.7 times).
    // An Intel core follows strides of up to 2 KiB into its first-level cache, and loses by it: unrolled, products of a
    // near A are 1.04 to 1.12 times as fast on a Granite Rapids; but a tile of nine columns has no registers for it.
    constexpr int packed_at_once = registers_to_spare ? chunk / 2 : chunk;
    constexpr bool unrolled =
        ((A == a_from::packed || A == a_from::copied) && NR == nr) || (A == a_from::unrolled && NR <= nr);
    constexpr int at_once = unrolled ? packed_at_once : MV * NR <= few_sums ? 2 : 1;
    int p = 0;
    if constexpr (First) {
      steps<Rows, NR, A, at_once, true>(a, a_step, far, copy, b, acc);
      p = at_once, far += at_once * a_step;
    }
#pragma GCC unroll 1
    for (; p < chunk; p += at_once, far += at_once * a_step)
      steps<Rows, NR, A, at_once, false>(a, a_step, far, copy, b, acc);
  }

  static constexpr int ahead = 10;  // k-steps, where not chunks
  // k-steps in which a tile of C comes from memory. In fewer the hardware, which follows the columns, is ahead of us
  // if it finds them near.
  static constexpr int deep_enough = 64, deep_enough_far = 16;

  // Of A in place, what to ask for from step `a` of chunk z on. The last chunks ask for the first ones of the tile
  // below, `run` elements further; those of shallow tiles for their likes there.
  template <a_from A>
  [[gnu::always_inline]] static T const* far_of(T const* a, std::int64_t a_step, std::int64_t run, int z, int chunks) {
    constexpr int chunks_ahead = A == a_from::spread ? V::chunks_ahead / 2 : V::chunks_ahead;
    if constexpr (!asks_below) return a + ahead * a_step;
    else if (z + chunks_ahead < chunks) return a + chunks_ahead * chunk * a_step;
    else return a + run + (chunks < chunks_ahead || z == chunks ? 0 : chunks_ahead - chunks) * chunk * a_step;
  }

  // Asks for the lines of one tile of every destination: a few of its columns at a time, or rows of a row-major C.
  template <int Height>
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
          for (int i = 0; i < Height; i += line) __builtin_prefetch(at + i, 1, 3);
          __builtin_prefetch(at + Height - 1, 1, 3);
        }
      }
    }
  };

  // Tiles of so many half vectors of rows by NR columns.
  template <typename Rows, int NR, a_from A, b_from B>
  static void micro_kernel(macro_call<T> const& call, tile_grid const& grid, T const* a_first, T const* b_first,
                           T* buffer_first) {
    constexpr int MV = Rows::count;
    // Sums that begin as products are no registers to set to zero: 15 to 25 cycles a tile on a Zen 4. Of the usual tile
    // only, as it takes a copy of the first k-steps.
    constexpr bool begins_with_products = updates::template is_usual_tile<Rows, NR>() && registers_to_spare;
    bool const touches_c = call.mode == gather::direct || call.mode == gather::finish;
    bool const whole = call.rs == 1 && grid.rows == Rows::halves * lanes / 2;
    auto const usual = whole ? updates::find_usual(call) : updates::usual::none;
    int const chunks = call.depth / chunk, rest = call.depth % chunk;
    bool const by_rows = call.rs != 1 && call.cs == 1;
    int const runs = by_rows ? grid.rows : NR;  // of contiguous elements of C
    int const asked =
        touches_c && (call.rs == 1 || by_rows) && call.depth >= (call.c_far ? deep_enough_far : deep_enough)
            ? call.count
            : 0;
    int const runs_a_chunk = asked ? (asked * runs + chunks - 1) / chunks : 0;

    for (int across = 0; across < grid.across; ++across, b_first += grid.b_across, buffer_first += grid.buffer_across) {
      T const* a_tile = a_first;
      T* buffer = buffer_first;
      for (int down = 0; down < grid.down; ++down, a_tile += grid.a_down, buffer += grid.buffer_down) {
        std::int64_t const offset = (grid.row + down * Rows::padded) * call.rs + (grid.col + across * nr) * call.cs;
        T const* a = a_tile;
        T* copy = nullptr;
        if constexpr (A == a_from::copied)
          copy = call.a_copy + static_cast<std::int64_t>(grid.row + down * Rows::padded) * call.depth;
        b_source<NR, B> b(call, grid, b_first);
        vector acc[NR][MV];

        tile_prefetch<Rows::padded> lines{call.destinations, asked, runs, offset, by_rows ? call.rs : call.cs, by_rows};
        int z = 0;
        auto const begin_chunk = [&]() __attribute__((always_inline)) {
          if (!lines.done()) lines.advance(runs_a_chunk);
          if (call.prefetch) call.prefetch->advance();
          return far_of<A>(a, grid.a_step, grid.a_down, z, chunks);
        };
        if (begins_with_products && chunks > 0) {
          one_chunk<Rows, NR, A, begins_with_products>(a, grid.a_step, begin_chunk(), copy, b, acc);
          z = 1;
        } else {
          set_to_zero<MV, NR>(acc);
        }
        for (; z < chunks; ++z) one_chunk<Rows, NR, A, false>(a, grid.a_step, begin_chunk(), copy, b, acc);
        T const* far = far_of<A>(a, grid.a_step, grid.a_down, chunks, chunks);
#pragma GCC unroll 1
        for (int p = 0; p < rest; ++p, far += grid.a_step)
          steps<Rows, NR, A, 1, false>(a, grid.a_step, far, copy, b, acc);

        if (usual != updates::usual::none) {
          updates::template one<Rows, NR>(acc, call.destinations[0], offset, call.cs, usual);
          continue;
        }
        if (call.mode == gather::add || call.mode == gather::finish)
          updates::template for_each_vector<MV, NR>(
              [&](int j, int i) { acc[j][i] = V::add(acc[j][i], Rows::load(buffer + j * Rows::padded, i)); });
        if (!touches_c) {
          updates::template for_each_vector<MV, NR>(
              [&](int j, int i) { Rows::store(buffer + j * Rows::padded, i, acc[j][i]); });
        } else {
          updates::template to_destinations<Rows, NR>(acc, call, offset, grid.rows, whole);
        }
      }
    }
  }

  // A tile takes as many half vectors of rows, and columns, as its real part needs. Most tiles have nr columns; the
  // others take an operand where it is with any distance between k-steps.
  using tile_kernel = void (*)(macro_call<T> const&, tile_grid const&, T const* a, T const* b, T* buffer);
  template <int NR, a_from A, b_from B>
  static tile_kernel find_by_rows(int rows, [[maybe_unused]] microarchitecture on) {
    int const halves = (2 * rows + lanes - 1) / lanes;
    if constexpr (V::halves) {
      constexpr a_from low = A == a_from::spread ? a_from::far : A;  // lower tiles are too few for a way of their own
      static constexpr tile_kernel table[] = {micro_kernel<column<1>, NR, low, B>, micro_kernel<column<2>, NR, low, B>,
                                              micro_kernel<column<3>, NR, low, B>, micro_kernel<column<4>, NR, low, B>,
                                              micro_kernel<column<5>, NR, low, B>, micro_kernel<column<6>, NR, A, B>};
      if constexpr (A != a_from::unrolled)  // Intel's, whose processors take no two turns
        if (halves == 3 && V::in_two_turns(on)) return micro_kernel<column<3, true>, NR, low, B>;
      return table[halves - 1];
    } else if constexpr (NR > nr) {
      static_assert(V::wide_vectors == 2);
      return halves > 2 ? micro_kernel<column<4>, NR, A, B> : micro_kernel<column<2>, NR, A, B>;
    } else {
      static constexpr tile_kernel table[] = {micro_kernel<column<2>, NR, A, B>, micro_kernel<column<4>, NR, A, B>,
                                              micro_kernel<column<6>, NR, A, B>};
      return table[(halves - 1) / 2];
    }
  }
  template <a_from A, b_from B>
  static tile_kernel find_kernel(int rows, int cols, microarchitecture on) {
    constexpr auto any_a = [](int columns) {
      if (is_asked(A)) return a_from::far;
      return A == a_from::unrolled && columns < nr ? A : a_from::near;  // a wider tile is not unrolled
    };
    return [&]<int... J>(std::integer_sequence<int, J...>) {
      static constexpr tile_kernel (*table[])(int, microarchitecture) = {
          find_by_rows < J + 1, J + 1 == nr ? A : any_a(J + 1), J + 1 == nr ? B : b_from::strided > ...};
      return table[cols - 1](rows, on);
    }
    (std::make_integer_sequence<int, V::most_columns>());
  }

  // Setting up a call takes as long as 2 k-steps, so it walks over columns of tiles too: over all, where their tiles
  // are of one shape; over so many that their B stays in the first-level cache for the second shape, where they are of
  // two.
  static constexpr int near_bytes = 16 << 10;
  template <a_from A, b_from B>
  static void all_tiles(macro_call<T> const& call) {
    int const whole = call.rows / mr, rest = call.rows % mr;
    auto [across, last] = cut_columns<V>(call.cols);
    // A column or two more in a whole tile cost less than a tile of their own, unless they make it lower: panels of
    // packed A are as high as tiles.
    if (across > 0 && nr + last[0] <= V::most_columns && last[0] > 0 && call.mode == gather::direct && call.rs == 1 &&
        (V::wide_vectors == vectors || call.a_unpacked))
      --across, last[0] += nr;
    if (call.prefetch)
      call.prefetch->pace(static_cast<std::int64_t>(whole + (rest > 0)) * (across + (last[0] > 0) + (last[1] > 0)) *
                          (call.depth / chunk));
    auto const padded = [](int rows) { return static_cast<std::int64_t>((rows + lanes - 1) / lanes * lanes); };
    std::int64_t const a_row = call.a_unpacked ? 1 : call.depth;
    std::int64_t const buffer_column = padded(call.rows);

    // Panels of B, and tiles in the buffer, are nr columns wide whatever the width of the tile.
    auto const run = [&](int height, int row, int down, int rows, int tile, int wide, int col, int cols) {
      T const* const b =
          call.b_unpacked ? call.b + col * call.b_column : call.b + static_cast<std::int64_t>(tile) * nr * call.depth;
      tile_grid const grid{.row = row,
                           .col = col,
                           .down = down,
                           .across = wide,
                           .rows = rows,
                           .a_down = height * a_row,
                           .b_across = nr * (call.b_unpacked ? call.b_column : call.depth),
                           .buffer_down = mr * nr,
                           .buffer_across = nr * buffer_column,
                           .a_step = call.a_unpacked ? call.a_step : padded(rows),
                           .b_step = call.b_unpacked ? call.b_step : nr,
                           .b_apart = call.b_unpacked ? call.b_column : 1};
      find_kernel<A, B>(rows, cols, call.on)(call, grid, call.a + row * a_row, b,
                                             call.buffer + (tile * buffer_column + row) * nr);
    };
    auto const run_columns = [&](int tile, int wide, int col, int cols) {
      constexpr int low = V::wide_vectors * lanes;
      bool const lower = low < mr && cols > nr;
      int const height = lower ? low : mr;
      int const down = lower ? call.rows / low : whole, below = lower ? call.rows % low : rest;
      if (down > 0) run(height, 0, down, height, tile, wide, col, cols);
      if (below > 0) run(height, down * height, 1, below, tile, wide, col, cols);
    };
    int const near = near_bytes / (call.depth * nr * static_cast<int>(sizeof(T)));
    int const at_once = whole == 0 || rest == 0 ? across : near > 0 ? near : 1;
    for (int j = 0; j < across; j += at_once) run_columns(j, across - j < at_once ? across - j : at_once, j * nr, nr);
    if (last[0] > 0) run_columns(across, 1, across * nr, last[0]);
    if (last[1] > 0) run_columns(across + 1, 1, across * nr + last[0], last[1]);
  }

  static void macro(macro_call<T> const& call) {
    bool const columns = call.b_unpacked && call.b_step == 1, rows = call.b_unpacked && !columns;
    if (!call.a_unpacked) {
      if (rows) return all_tiles<a_from::packed, b_from::rows>(call);
      if (columns) return all_tiles<a_from::packed, b_from::columns>(call);
      return all_tiles<a_from::packed, b_from::packed>(call);
    }
    auto const from = [&]<a_from A>() {
      if (rows) return all_tiles<A, b_from::rows>(call);
      if (columns) return all_tiles<A, b_from::columns>(call);
      all_tiles<A, b_from::packed>(call);
    };
    if (call.a_copy) return from.template operator()<a_from::copied>();
    if constexpr (asks_below)
      if (call.a_ahead == asked_into::nowhere && call.on == microarchitecture::intel)
        return from.template operator()<a_from::unrolled>();
    if (call.a_ahead == asked_into::nowhere) return from.template operator()<a_from::near>();
    if constexpr (asks_below)
      if (call.a_ahead == asked_into::first_level) return from.template operator()<a_from::spread>();
    from.template operator()<a_from::far>();
  }
};

}  // namespace
}  // namespace heptad::cpu
