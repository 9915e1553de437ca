// SPDX-License-Identifier: BSD-3-Clause
// Macro-kernel for any vector instruction set, given its traits: V::element, V::vector, V::mask, V::lanes,
// V::tile (columns transposed at once), V::chunk (k-steps between prefetches), V::chunks_ahead (of an A in place that
// are asked for, on into the tile below; 0: as of a packed one), mr = 3 vectors, nr = V::nr columns.
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
#include "codelets/cpu/source_stream.hpp"

namespace heptad::cpu {
namespace {

template <typename V>
struct simd_kernels {
  using T = typename V::element;
  using vector = typename V::vector;
  static constexpr int lanes = V::lanes, nr = V::nr, vectors = 3, mr = vectors * lanes;
  static constexpr bool asks_below = V::chunks_ahead > 0;

  // Every product asks for them.
  static blocking blocks() {
    static blocking const found = blocks_for_caches(mr, nr, sizeof(T));
    return found;
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
  template <int NR>
  struct separate_columns {
    T const* at[NR];
    std::int64_t offset = 0;
    [[gnu::always_inline]] separate_columns(T const* b, std::int64_t column, int cols) {
#pragma GCC unroll 8
      for (int j = 0; j < NR; ++j) at[j] = b + (j < cols ? j : cols - 1) * column;
    }
    [[gnu::always_inline]] vector operator[](int j) const { return V::broadcast(at[j][offset]); }
    [[gnu::always_inline]] void advance(std::int64_t step) { offset += step; }
  };

  // far: of A, what to ask for meanwhile. Into the second-level cache, if it is in place: columns that share sets
  // would not stay in the first one for so long. A vector of it may be in two lines.
  template <int MV, int NR, bool InPlace, typename B>
  [[gnu::always_inline]] static void steps(int depth, T const*& a, std::int64_t a_step, T const* far, B& b,
                                           std::int64_t b_step, vector (&acc)[NR][MV]) {
    auto const step = [&](vector(&sums)[NR][MV]) __attribute__((always_inline)) {
      vector x[MV];
#pragma GCC unroll 3
      for (int i = 0; i < MV; ++i) x[i] = V::load(a + i * lanes);
#pragma GCC unroll 3
      for (int i = 0; i < MV; ++i) __builtin_prefetch(far + i * lanes, 0, InPlace ? 2 : 3);
      if constexpr (InPlace) __builtin_prefetch(far + MV * lanes - 1, 0, 2);
#pragma GCC unroll 8
      for (int j = 0; j < NR; ++j) {
        vector const y = b[j];
#pragma GCC unroll 3
        for (int i = 0; i < MV; ++i) sums[j][i] = V::fma(x[i], y, sums[j][i]);
      }
      a += a_step;
      far += a_step;
      asm("" : "+r"(far));  // a pointer of its own: the compiler would keep three
      b.advance(b_step);
    };
    // Too few sums to hide the latency of an addition behind each other take turns with as many more.
    constexpr bool few = MV * NR <= 4;
    int p = 0;
    if constexpr (few) {
      vector odd[NR][MV];
      for_each_vector<MV, NR>([&](int j, int i) { odd[j][i] = V::zero(); });
#pragma GCC unroll 2
      for (; p + 1 < depth; p += 2) step(acc), step(odd);
      for_each_vector<MV, NR>([&](int j, int i) { acc[j][i] = V::add(acc[j][i], odd[j][i]); });
    }
#pragma GCC unroll 4
    for (; p < depth; ++p) step(acc);
  }

  // A chunk of steps; of a whole tile of packed operands by V::whole_chunk, where there is one.
  template <int MV, int NR, bool PackedA, typename B>
  [[gnu::always_inline]] static void one_chunk(T const*& a, std::int64_t a_step, T const* far, B& b,
                                               std::int64_t b_step, vector (&acc)[NR][MV]) {
    if constexpr (PackedA && std::is_same_v<B, packed_columns> && MV == vectors && NR == nr &&
                  requires { V::whole_chunk(a, b.at, acc); }) {
      V::whole_chunk(a, b.at, acc);
      a += chunk * MV * lanes;
      b.at += chunk * nr;
    } else {
      steps<MV, NR, !PackedA && asks_below>(chunk, a, a_step, far, b, b_step, acc);
    }
  }

  template <bool Packed, int NR>
  using columns = std::conditional_t<Packed, packed_columns, separate_columns<NR>>;

  // Tiles of one shape below each other: where the first one begins, and how much of each is real.
  struct tile_run {
    int row, col, tiles, rows, cols;
  };
  static constexpr int chunk = V::chunk;
  static constexpr int ahead = 10;  // k-steps of a packed A asked for in advance
  // k-steps in which a tile of C comes from memory. In fewer the hardware, which follows the columns, is ahead of us.
  static constexpr int deep_enough = 64;

  // Of A, what to ask for from step `a` of chunk z on. A packed A goes on in the next panel. In place, the last chunks
  // ask for the first ones of the tile below, `run` elements further; those of shallow tiles for their likes there.
  template <bool PackedA>
  [[gnu::always_inline]] static T const* far_of(T const* a, std::int64_t a_step, std::int64_t run, int z, int chunks) {
    if constexpr (PackedA || !asks_below) return a + ahead * a_step;
    else if (z + V::chunks_ahead < chunks) return a + V::chunks_ahead * chunk * a_step;
    else return a + run + (chunks < V::chunks_ahead || z == chunks ? 0 : V::chunks_ahead - chunks) * chunk * a_step;
  }

  // Asks for the lines of one tile of every destination: a few of its columns at a time, or rows of a row-major C.
  template <int MV>
  struct tile_prefetch {
    destination<T> const* d;
    std::int64_t offset, apart;
    int count, left;  // columns, or rows, of a tile, and those not yet asked for, over all destinations
    bool rows;
    int at = 0;
    static constexpr int line = 64 / sizeof(T);
    [[gnu::always_inline]] void advance(int runs) {
      for (; runs > 0 && left > 0; --runs, --left) {
        T const* const c = d->data + offset + at * apart;
        if (rows) {
          __builtin_prefetch(c, 1, 3);
          __builtin_prefetch(c + nr - 1, 1, 3);
        } else {
#pragma GCC unroll 3
          for (int i = 0; i < MV * lanes; i += line) __builtin_prefetch(c + i, 1, 3);
          __builtin_prefetch(c + MV * lanes - 1, 1, 3);
        }
        if (++at == count) at = 0, ++d;
      }
    }
  };

  // Tiles of MV vectors of rows (`rows` of them real) by NR columns (`cols` of them real).
  template <int MV, int NR, bool PackedA, typename B>
  static void micro_kernel(macro_call<T> const& call, tile_run const& at, T const* a_first, T const* b_first,
                           T* buffer) {
    bool const touches_c = call.mode == gather::direct || call.mode == gather::finish;
    std::int64_t const a_step = call.a_unpacked ? call.a_step : MV * lanes;
    std::int64_t const a_run = call.a_unpacked ? MV * lanes : MV * lanes * static_cast<std::int64_t>(call.depth);
    int const chunks = call.depth / chunk, rest = call.depth % chunk;
    bool const by_rows = call.rs != 1 && call.cs == 1;
    int const runs = by_rows ? at.rows : at.cols;  // of contiguous elements of C
    int const wanted = touches_c && (call.rs == 1 || by_rows) && call.depth >= deep_enough ? call.count * runs : 0;
    int const runs_a_chunk = wanted ? (wanted + chunks - 1) / chunks : 0;

    for (int tile = 0; tile < at.tiles; ++tile, a_first += a_run, buffer += MV * lanes * nr) {
      std::int64_t const offset = (at.row + tile * MV * lanes) * call.rs + at.col * call.cs;
      T const* a = a_first;
      B b(b_first, call.b_column, at.cols);
      vector acc[NR][MV];
      for_each_vector<MV, NR>([&](int j, int i) { acc[j][i] = V::zero(); });

      tile_prefetch<MV> lines{call.destinations, offset, by_rows ? call.rs : call.cs, runs, wanted, by_rows};
      for (int z = 0; z < chunks; ++z) {
        lines.advance(runs_a_chunk);
        if (call.prefetch) call.prefetch->advance();
        one_chunk<MV, NR, PackedA>(a, a_step, far_of<PackedA>(a, a_step, a_run, z, chunks), b, call.b_step, acc);
      }
      steps<MV, NR, !PackedA && asks_below>(rest, a, a_step, far_of<PackedA>(a, a_step, a_run, chunks, chunks), b,
                                            call.b_step, acc);

      if (call.mode == gather::add || call.mode == gather::finish)
        for_each_vector<MV, NR>(
            [&](int j, int i) { acc[j][i] = V::add(acc[j][i], V::load(buffer + (j * MV + i) * lanes)); });
      if (!touches_c) {
        for_each_vector<MV, NR>([&](int j, int i) { V::store(buffer + (j * MV + i) * lanes, acc[j][i]); });
      } else if (by_rows) {
        alignas(64) T m[MV * lanes * nr];
        transpose<MV, NR>(acc, m);
        for (int q = 0; q < call.count; ++q) update_row_major(m, call, call.destinations[q], offset, at.rows, at.cols);
      } else if (call.rs != 1) {  // through a small tile
        alignas(64) T m[NR * MV * lanes];
        for_each_vector<MV, NR>([&](int j, int i) { V::store(m + (j * MV + i) * lanes, acc[j][i]); });
        for (int q = 0; q < call.count; ++q)
          update_strided(m, MV * lanes, call, call.destinations[q], offset, at.rows, at.cols);
      } else if (at.rows == MV * lanes && at.cols == NR) {
        for (int q = 0; q < call.count; ++q) {
          destination<T> const& d = call.destinations[q];
          update_whole<MV, NR>(acc, d.data + offset, call.cs, d);
        }
      } else {
        auto const last = V::first(at.rows - (MV - 1) * lanes);
        for (int q = 0; q < call.count; ++q) {
          destination<T> const& d = call.destinations[q];
          update_edge<MV, NR>(acc, d.data + offset, call.cs, d, at.cols, last);
        }
      }
    }
  }

  // Unrolled, so that accumulators stay in registers.
  template <int MV, int NR, typename Body>
  [[gnu::always_inline]] static void for_each_vector(Body&& body) {
#pragma GCC unroll 8
    for (int j = 0; j < NR; ++j)
#pragma GCC unroll 3
      for (int i = 0; i < MV; ++i) body(j, i);
  }

  template <int MV, int NR>
  [[gnu::always_inline]] static void update_whole(vector const (&acc)[NR][MV], T* c, std::int64_t cs,
                                                  destination<T> const& d) {
    vector const w = V::broadcast(d.coefficient);
    auto const at = [&](int j, int i) { return c + j * cs + i * lanes; };
    if (d.beta == T(0) && d.coefficient == T(1)) {
      for_each_vector<MV, NR>([&](int j, int i) { V::store(at(j, i), acc[j][i]); });
    } else if (d.beta == T(0)) {
      for_each_vector<MV, NR>([&](int j, int i) { V::store(at(j, i), V::mul(w, acc[j][i])); });
    } else if (d.beta == T(1)) {
      for_each_vector<MV, NR>([&](int j, int i) { V::store(at(j, i), V::fma(w, acc[j][i], V::load(at(j, i)))); });
    } else {
      vector const s = V::broadcast(d.beta);
      for_each_vector<MV, NR>(
          [&](int j, int i) { V::store(at(j, i), V::fma(s, V::load(at(j, i)), V::mul(w, acc[j][i]))); });
    }
  }

  // The same for the first `cols` columns, with the last vector of each masked.
  template <int MV, int NR>
  [[gnu::always_inline]] static void update_edge(vector const (&acc)[NR][MV], T* c, std::int64_t cs,
                                                 destination<T> const& d, int cols, typename V::mask last) {
    vector const w = V::broadcast(d.coefficient), s = V::broadcast(d.beta);
    bool const reads = d.beta != T(0);
    for_each_vector<MV, NR>([&](int j, int i) {
      if (j >= cols) return;
      T* const at = c + j * cs + i * lanes;
      vector x = V::mul(w, acc[j][i]);
      if (i < MV - 1) {
        if (reads) x = V::fma(s, V::load(at), x);
        V::store(at, x);
      } else {
        if (reads) x = V::fma(s, V::load(at, last), x);
        V::store(at, x, last);
      }
    });
  }

  // C by rows, through a small tile of nr elements a row.
  template <int MV, int NR>
  [[gnu::always_inline]] static void transpose(vector const (&acc)[NR][MV], T* m) {
    static_assert(V::tile == nr);
#pragma GCC unroll 3
    for (int i = 0; i < MV; ++i) {
      vector columns[nr];
#pragma GCC unroll 8
      for (int j = 0; j < nr; ++j) columns[j] = j < NR ? acc[j < NR ? j : 0][i] : V::zero();
      V::store_transposed(columns, m + i * lanes * nr, nr);
    }
  }
  [[gnu::noinline]] static void update_row_major(T const* m, macro_call<T> const& call, destination<T> const& d,
                                                 std::int64_t offset, int rows, int cols) {
    if (cols == nr) return update_rows(m, call, d, offset, rows, load_row, store_row);
    auto const part = V::first(cols);
    update_rows(
        m, call, d, offset, rows, [part](T const* c) { return V::load(c, part); },
        [part](T* c, vector x) { V::store(c, x, part); });
  }
  [[gnu::always_inline]] static vector load_row(T const* p) {
    if constexpr (nr < lanes) return V::load_narrow(p);
    else return V::load(p);
  }
  [[gnu::always_inline]] static void store_row(T* p, vector x) {
    if constexpr (nr < lanes) V::store_narrow(p, x);
    else V::store(p, x);
  }
  template <typename Load, typename Store>
  [[gnu::always_inline]] static void update_rows(T const* m, macro_call<T> const& call, destination<T> const& d,
                                                 std::int64_t offset, int rows, Load load, Store store) {
    vector const w = V::broadcast(d.coefficient), s = V::broadcast(d.beta);
    T* c = d.data + offset;
    for (int i = 0; i < rows; ++i, c += call.rs) {
      vector x = V::mul(w, load_row(m + i * nr));
      if (d.beta != T(0)) x = V::fma(s, load(c), x);
      store(c, x);
    }
  }

  [[gnu::noinline]] static void update_strided(T const* m, int ld, macro_call<T> const& call, destination<T> const& d,
                                               std::int64_t offset, int rows, int cols) {
    T* const c = d.data + offset;
    for (int j = 0; j < cols; ++j)
      for (int i = 0; i < rows; ++i) {
        T& to = c[i * call.rs + j * call.cs];
        T const x = d.coefficient * m[j * ld + i];
        to = d.beta == T(0) ? x : x + d.beta * to;
      }
  }

  // A tile takes as many vectors of rows, and columns in pairs, as its real part needs.
  using tile_kernel = void (*)(macro_call<T> const&, tile_run const&, T const* a, T const* b, T* buffer);
  template <bool PackedA, bool PackedB, int... Pairs>
  static tile_kernel find_kernel(int rows, int cols, std::integer_sequence<int, Pairs...>) {
    static constexpr tile_kernel table[vectors][sizeof...(Pairs)] = {
        {micro_kernel<1, 2 * (Pairs + 1), PackedA, columns<PackedB, 2 * (Pairs + 1)>>...},
        {micro_kernel<2, 2 * (Pairs + 1), PackedA, columns<PackedB, 2 * (Pairs + 1)>>...},
        {micro_kernel<3, 2 * (Pairs + 1), PackedA, columns<PackedB, 2 * (Pairs + 1)>>...}};
    return table[(rows - 1) / lanes][(cols - 1) / 2];
  }

  template <bool PackedA, bool PackedB>
  static void all_tiles(macro_call<T> const& call) {
    if (call.prefetch)
      call.prefetch->pace(static_cast<std::int64_t>((call.rows + mr - 1) / mr) * ((call.cols + nr - 1) / nr) *
                          (call.depth / chunk));
    int const whole = call.rows / mr, below = whole * mr, padded_rows = (call.rows + lanes - 1) / lanes * lanes;
    std::int64_t const a_below = below * (call.a_unpacked ? std::int64_t(1) : call.depth);
    for (int j = 0; j < call.cols; j += nr) {
      int const cols = call.cols - j < nr ? call.cols - j : nr;
      T const* const b = call.b + j * (PackedB ? call.depth : call.b_column);
      T* const buffer = call.buffer + static_cast<std::int64_t>(j) * padded_rows;
      auto const run = [&](tile_run const& tiles, T const* a, T* to) {
        find_kernel<PackedA, PackedB>(tiles.rows, cols, std::make_integer_sequence<int, nr / 2>())(call, tiles, a, b,
                                                                                                   to);
      };
      if (whole > 0) run({0, j, whole, mr, cols}, call.a, buffer);
      if (below < call.rows) run({below, j, 1, call.rows - below, cols}, call.a + a_below, buffer + below * nr);
    }
  }

  static void macro(macro_call<T> const& call) {
    if (call.b_unpacked) all_tiles<false, false>(call);
    else if (call.a_unpacked) all_tiles<false, true>(call);
    else all_tiles<true, true>(call);
  }
};

}  // namespace
}  // namespace heptad::cpu
