// SPDX-License-Identifier: BSD-3-Clause
// How a tile of sums reaches C, for any vector instruction set, given its traits V (see simd_kernels.hpp): columns of
// up to 3 vectors, the last of which may be half a vector, whole or in part, into a column-major C, a row-major one or
// one of any strides.
#pragma once

#include <cstdint>

#include "codelets/cpu/kernel_set.hpp"

namespace heptad::cpu {
namespace {

template <typename V>
struct simd_updates {
  using T = typename V::element;
  using vector = typename V::vector;
  static constexpr int lanes = V::lanes, nr = V::nr, most_vectors = 3;

  // Most tiles are as wide as this and as high, or half a vector less.
  template <typename Rows, int NR>
  static constexpr bool is_usual_tile() {
    return NR == nr && Rows::padded == most_vectors * lanes;
  }

  // What the usual whole tile asks for, with one column-major destination: C := M, or C += w M. Found before its
  // k-steps: each branch after them costs, and one on floats most, as its comparison waits behind the multiplications
  // (measured on a Zen 4: 25 to 40 cycles a tile in all).
  enum class usual { none, store, add };
  static usual find_usual(macro_call<T> const& call) {
    if (call.mode != gather::direct || call.count != 1 || call.rs != 1) return usual::none;
    destination<T> const& d = call.destinations[0];
    if (d.beta == T(0) && d.coefficient == T(1)) return usual::store;
    return d.beta == T(1) ? usual::add : usual::none;
  }
  template <typename Rows, int NR, int MV>
  [[gnu::always_inline]] static void one(vector const (&acc)[NR][MV], destination<T> const& d, std::int64_t offset,
                                         std::int64_t cs, usual what) {
    T* const c = d.data + offset;
    if (what == usual::store) store_whole<Rows>(acc, c, cs);
    else add_whole<Rows>(acc, c, cs, V::broadcast(d.coefficient));
  }

  // The registers of a column of so many half vectors: whole vectors, and half a one at the end; or each half in its
  // own, where a processor computes a vector in two turns: a value reaches both halves of one in twice the time (Zen 4:
  // 3 halves are 1.1 times as fast).
  template <int Halves, bool Apart = false>
  struct column {
    static constexpr int halves = Halves;
    static constexpr bool all_halves = Apart || Halves == 1;
    static constexpr int count = all_halves ? Halves : (Halves + 1) / 2;
    static constexpr int padded = (Halves + 1) / 2 * lanes;  // elements
    static constexpr bool is_half(int i) { return all_halves || 2 * i + 1 == Halves; }
    static constexpr int first(int i) { return all_halves ? i * lanes / 2 : i * lanes; }
    [[gnu::always_inline]] static vector load(T const* p, int i) {
      if constexpr (Halves % 2 == 1)
        if (is_half(i)) return V::load_half(p + first(i));
      return V::load(p + first(i));
    }
    [[gnu::always_inline]] static void store(T* p, int i, vector x) {
      if constexpr (Halves % 2 == 1)
        if (is_half(i)) return V::store_half(p + first(i), x);
      V::store(p + first(i), x);
    }
  };

  // Unrolled, so that accumulators stay in registers.
  template <int MV, int NR, typename Body>
  [[gnu::always_inline]] static void for_each_vector(Body&& body) {
#pragma GCC unroll 16
    for (int j = 0; j < NR; ++j)
#pragma GCC unroll 3
      for (int i = 0; i < MV; ++i) body(j, i);
  }

  // A whole tile into one column-major destination, column after column from one address: the asm keeps the compiler
  // from making all of them at once, more than it has registers for. It would hold some in vector registers, and
  // reading these waits behind the multiplications (Zen 4: 30 cycles a tile).
  template <int NR, int MV, typename Body>
  [[gnu::always_inline]] static void for_each_vector_of(vector const (&acc)[NR][MV], T* c, std::int64_t cs,
                                                        Body&& body) {
#pragma GCC unroll 16
    for (int j = 0; j < NR; ++j, c += cs) {
      asm("" : "+r"(c));
#pragma GCC unroll 3
      for (int i = 0; i < MV; ++i) body(c, i, acc[j][i]);
    }
  }
  template <typename Rows, int NR, int MV>
  [[gnu::always_inline]] static void store_whole(vector const (&acc)[NR][MV], T* c, std::int64_t cs) {
    for_each_vector_of(acc, c, cs, [](T* at, int i, vector x) { Rows::store(at, i, x); });
  }
  template <typename Rows, int NR, int MV>
  [[gnu::always_inline]] static void add_whole(vector const (&acc)[NR][MV], T* c, std::int64_t cs, vector w) {
    for_each_vector_of(acc, c, cs,
                       [&](T* at, int i, vector x) { Rows::store(at, i, V::fma(w, x, Rows::load(at, i))); });
  }
  template <typename Rows, int NR, int MV>
  [[gnu::always_inline]] static void whole(vector const (&acc)[NR][MV], T* c, std::int64_t cs,
                                           destination<T> const& d) {
    vector const w = V::broadcast(d.coefficient);
    if (d.beta == T(0) && d.coefficient == T(1)) {
      store_whole<Rows>(acc, c, cs);
    } else if (d.beta == T(0)) {
      for_each_vector_of(acc, c, cs, [&](T* at, int i, vector x) { Rows::store(at, i, V::mul(w, x)); });
    } else if (d.beta == T(1)) {
      add_whole<Rows>(acc, c, cs, w);
    } else {
      vector const s = V::broadcast(d.beta);
      for_each_vector_of(
          acc, c, cs, [&](T* at, int i, vector x) { Rows::store(at, i, V::fma(s, Rows::load(at, i), V::mul(w, x))); });
    }
  }

  // Any tile into any destinations; `is_whole`: it has all its rows, of a column-major C. Sums of an unusual one go to
  // memory first: such tiles are few beside the usual ones, and most of what there is to compile.
  template <typename Rows, int NR, int MV>
  [[gnu::always_inline]] static void to_destinations(vector const (&acc)[NR][MV], macro_call<T> const& call,
                                                     std::int64_t offset, int rows, bool is_whole) {
    if (is_usual_tile<Rows, NR>() && is_whole) {
      for (int q = 0; q < call.count; ++q) {
        destination<T> const& d = call.destinations[q];
        whole<Rows, NR>(acc, d.data + offset, call.cs, d);
      }
    } else {
      alignas(64) T m[NR * Rows::padded];
      // Whole vectors: behind a half are zeros, which are multiplied too.
      for_each_vector<MV, NR>([&](int j, int i) { V::store(m + j * Rows::padded + Rows::first(i), acc[j][i]); });
      for (int j = 0; j < NR; j += nr)
        part(m + j * Rows::padded, Rows::padded / lanes, call, offset + j * call.cs, rows, NR - j < nr ? NR - j : nr);
    }
  }

  // The `rows` by `cols` (up to nr) of a tile that are real, from a copy of it in memory with `vectors` vectors a
  // column: into any destinations. In the micro-kernel itself it would take registers from the tiles that are whole.
  [[gnu::noinline]] static void part(T const* m, int vectors, macro_call<T> const& call, std::int64_t offset, int rows,
                                     int cols) {
    auto const update = [&](auto const& to_one) {
      for (int q = 0; q < call.count; ++q) to_one(call.destinations[q], call.destinations[q].data + offset);
    };
    if (call.rs == 1)
      return update([&](auto const& d, T* c) { part_by_columns(m, vectors, d, c, call.cs, rows, cols); });
    if (call.cs == 1) {
      alignas(64) T in_rows[most_vectors * lanes * nr];
      transpose(m, vectors, cols, in_rows);
      return update([&](auto const& d, T* c) { part_by_rows(in_rows, d, c, call.rs, rows, cols); });
    }
    update([&](auto const& d, T* c) { part_strided(m, vectors, d, c, call.rs, call.cs, rows, cols); });
  }

private:
  static void part_by_columns(T const* m, int vectors, destination<T> const& d, T* c, std::int64_t cs, int rows,
                              int cols) {
    vector const w = V::broadcast(d.coefficient), s = V::broadcast(d.beta);
    bool const reads = d.beta != T(0);
    auto const last = V::first(rows - (vectors - 1) * lanes);
    for (int j = 0; j < cols; ++j, c += cs)
      for (int i = 0; i < vectors; ++i, m += lanes) {
        T* const at = c + i * lanes;
        vector x = V::mul(w, V::load(m));
        if (i < vectors - 1) {
          if (reads) x = V::fma(s, V::load(at), x);
          V::store(at, x);
        } else {
          if (reads) x = V::fma(s, V::load(at, last), x);
          V::store(at, x, last);
        }
      }
  }

  // Into rows of nr elements.
  static void transpose(T const* m, int vectors, int cols, T* rows) {
    static_assert(V::tile == nr);
    for (int i = 0; i < vectors; ++i) {
      vector columns[nr];
      for (int j = 0; j < nr; ++j) columns[j] = j < cols ? V::load(m + (j * vectors + i) * lanes) : V::zero();
      V::store_transposed(columns, rows + i * lanes * nr, nr);
    }
  }
  static void part_by_rows(T const* m, destination<T> const& d, T* c, std::int64_t rs, int rows, int cols) {
    if (cols == nr) return update_rows(m, d, c, rs, rows, load_row, store_row);
    auto const part = V::first(cols);
    update_rows(
        m, d, c, rs, rows, [part](T const* at) { return V::load(at, part); },
        [part](T* at, vector x) { V::store(at, x, part); });
  }
  [[gnu::always_inline]] static vector load_row(T const* p) {
    if constexpr (nr < lanes) return V::load_half(p);
    else return V::load(p);
  }
  [[gnu::always_inline]] static void store_row(T* p, vector x) {
    if constexpr (nr < lanes) V::store_half(p, x);
    else V::store(p, x);
  }
  template <typename Load, typename Store>
  [[gnu::always_inline]] static void update_rows(T const* m, destination<T> const& d, T* c, std::int64_t rs, int rows,
                                                 Load load, Store store) {
    vector const w = V::broadcast(d.coefficient), s = V::broadcast(d.beta);
    for (int i = 0; i < rows; ++i, c += rs) {
      vector x = V::mul(w, load_row(m + i * nr));
      if (d.beta != T(0)) x = V::fma(s, load(c), x);
      store(c, x);
    }
  }

  static void part_strided(T const* m, int vectors, destination<T> const& d, T* c, std::int64_t rs, std::int64_t cs,
                           int rows, int cols) {
    for (int j = 0; j < cols; ++j)
      for (int i = 0; i < rows; ++i) {
        T& to = c[i * rs + j * cs];
        T const x = d.coefficient * m[j * vectors * lanes + i];
        to = d.beta == T(0) ? x : x + d.beta * to;
      }
  }
};

}  // namespace
}  // namespace heptad::cpu
