// SPDX-License-Identifier: BSD-3-Clause
// Packing for any vector instruction set, given its traits V (see simd_kernels.hpp): Σ coefficient · block into panels.
// A panel of B is what a tile of columns needs; all are nr wide.
// The plain loop is pack_panels in plain_loops.hpp. Edges are whole vectors with a mask: a leaf of an odd size has
// edges everywhere. Steps may be written in whole vectors too, so up to lanes - 1 steps of the last panel beyond the
// depth are overwritten.
#pragma once

#include <cstdint>

#include "codelets/cpu/kernel_set.hpp"
#include "codelets/cpu/magnitude.hpp"
#include "src/matrix/limits.hpp"

namespace heptad::cpu {
namespace {

// How the columns of a macro-kernel call are cut into tiles: `whole` ones of nr columns, then up to two of other
// widths. In a tile of few columns the loads of A take longer than the multiplications: where the last one would have
// up to V::narrow, the last two are about equally wide (measured on a Zen 4: 5 + 5 columns instead of 8 + 2 are 1.15
// times as fast, 1.02 times behind 16 tiles; in the tiles of AVX2, 0.9 to 1.1 times).
struct column_cut {
  int whole, last[2];
};
template <typename V>
column_cut cut_columns(int cols) {
  int const whole = cols / V::nr, rest = cols % V::nr;
  if (whole == 0 || rest <= V::most_columns - V::nr || rest > V::narrow) return {whole, {rest, 0}};
  return {whole - 1, {(V::nr + rest + 1) / 2, (V::nr + rest) / 2}};
}
// Of the first tile; of all columns, where they may be one.
template <typename V>
int first_tile(int cols) {
  auto const [whole, last] = cut_columns<V>(cols);
  return cols <= V::most_columns ? cols : whole > 0 ? V::nr : last[0];
}

template <typename V>
struct simd_packing {
  using T = typename V::element;
  using vector = typename V::vector;
  static constexpr int lanes = V::lanes, nr = V::nr, tile = V::tile;

  // How the elements at one vector are read: all of them, or the first few with zeros beyond.
  struct whole {
    [[gnu::always_inline]] vector operator()(T const* p) const { return V::load(p); }
  };
  struct part {
    typename V::mask mask;
    [[gnu::always_inline]] vector operator()(T const* p) const { return V::load(p, mask); }
  };
  struct narrow {  // nr elements, where these are less than a vector
    [[gnu::always_inline]] vector operator()(T const* p) const { return V::load_half(p); }
  };

  // What a sum sees of the elements that it reads: nothing, or the largest magnitude. Of a double its upper half tells
  // enough: numbers that agree there differ by less than 2^-20 of their size.
  struct blind {
    [[gnu::always_inline]] vector see(vector x) const { return x; }
    [[gnu::always_inline]] void tell() const {}
  };
  struct seeing {
    typedef std::int32_t words __attribute__((vector_size(sizeof(vector))));
    T* largest;
    mutable words most = {};
    [[gnu::always_inline]] vector see(vector x) const {
      words const magnitude = reinterpret_cast<words>(x) & INT32_MAX;
      most = magnitude > most ? magnitude : most;
      return x;
    }
    [[gnu::always_inline]] void tell() const {
      constexpr int halves = sizeof(T) / sizeof(std::int32_t);
      std::int32_t of_lanes[halves * lanes], upper = 0;
      __builtin_memcpy(of_lanes, &most, sizeof of_lanes);
      for (int i = halves - 1; i < halves * lanes; i += halves) upper = of_lanes[i] > upper ? of_lanes[i] : upper;
      raise_magnitude(*largest, at_most<T>(upper));
    }
  };

  // Σ coefficient · block at one vector. The addresses and coefficients of few blocks are values of their own, which
  // stay in registers: those in the caller's list would be read again after every store.
  template <typename Eyes>
  struct copy_of_one : Eyes {
    T const* at;
    [[gnu::always_inline]] copy_of_one(term<T> const* terms, Eyes const& eyes) : Eyes(eyes), at(terms[0].data) {}
    template <typename Load>
    [[gnu::always_inline]] vector operator()(std::int64_t offset, Load load) const {
      return Eyes::see(load(at + offset));
    }
  };
  template <int Count, typename Eyes>
  struct sum_of : Eyes {
    T const* at[Count];
    vector weight[Count];
    [[gnu::always_inline]] sum_of(term<T> const* terms, Eyes const& eyes) : Eyes(eyes) {
#pragma GCC unroll 4
      for (int q = 0; q < Count; ++q) at[q] = terms[q].data, weight[q] = V::broadcast(terms[q].coefficient);
    }
    template <typename Load>
    [[gnu::always_inline]] vector operator()(std::int64_t offset, Load load) const {
      vector x = V::mul(weight[0], Eyes::see(load(at[0] + offset)));
#pragma GCC unroll 4
      for (int q = 1; q < Count; ++q) x = V::fma(weight[q], Eyes::see(load(at[q] + offset)), x);
      return x;
    }
  };
  template <typename Eyes>
  struct sum_of_many : Eyes {
    term<T> const* terms;
    int count;
    [[gnu::always_inline]] sum_of_many(term<T> const* all, int number, Eyes const& eyes)
        : Eyes(eyes), terms(all), count(number) {}
    template <typename Load>
    [[gnu::always_inline]] vector operator()(std::int64_t offset, Load load) const {
      vector x = V::mul(V::broadcast(terms[0].coefficient), Eyes::see(load(terms[0].data + offset)));
      for (int q = 1; q < count; ++q)
        x = V::fma(V::broadcast(terms[q].coefficient), Eyes::see(load(terms[q].data + offset)), x);
      return x;
    }
  };

  // The panel's width is contiguous: copy W vectors a step, `depth` steps; the last vector reads through `last`.
  template <int W, typename Sum, typename Load>
  [[gnu::always_inline]] static void pack_along(Sum const& sum, std::int64_t offset, std::int64_t ds, int depth,
                                                Load last, T* packed) {
    for (int p = 0; p < depth; ++p, offset += ds, packed += W * lanes) {
#pragma GCC unroll 3
      for (int i = 0; i < W - 1; ++i) V::store(packed + i * lanes, sum(offset + i * lanes, whole{}));
      V::store(packed + (W - 1) * lanes, sum(offset + (W - 1) * lanes, last));
    }
  }

  // The same for panels of B narrower than a vector. No masked stores: they make it several times as slow on a Zen 3.
  template <typename Sum, typename Load>
  [[gnu::always_inline]] static void pack_narrow(Sum const& sum, std::int64_t offset, std::int64_t ds, int depth,
                                                 Load load, T* packed) {
    for (int p = 0; p < depth; ++p, offset += ds, packed += nr) V::store_half(packed, sum(offset, load));
  }

  // The last, narrower panel where the width is contiguous.
  template <int W, typename Sum>
  [[gnu::always_inline]] static void pack_last(Sum const& sum, std::int64_t offset, std::int64_t ds, int depth,
                                               int width, T* packed) {
    if constexpr (W == 0) return pack_narrow(sum, offset, ds, depth, part{V::first(width)}, packed);
    part const last{V::first((width - 1) % lanes + 1)};
    switch ((width + lanes - 1) / lanes) {
      case 1:
        return pack_along<1>(sum, offset, ds, depth, last, packed);
      case 2:
        return pack_along<2>(sum, offset, ds, depth, last, packed);
      default:
        return pack_along<3>(sum, offset, ds, depth, last, packed);
    }
  }

  // The depth is contiguous: transpose `tile` columns (`columns` of them real) by `lanes` steps at a time into a panel
  // of `padded` elements.
  template <typename Sum>
  [[gnu::always_inline]] static void pack_across(Sum const& sum, std::int64_t offset, std::int64_t ws, int columns,
                                                 int depth, int padded, T* packed) {
    std::int64_t const step = static_cast<std::int64_t>(padded) * lanes;
    int p = 0;
    if (columns >= tile)
      for (; p + lanes <= depth; p += lanes, offset += lanes, packed += step)
        transpose(sum, offset, ws, tile, whole{}, padded, packed);
    for (; p < depth; p += lanes, offset += lanes, packed += step)
      transpose(sum, offset, ws, columns, part{V::first(depth - p < lanes ? depth - p : lanes)}, padded, packed);
  }
  template <typename Sum, typename Load>
  [[gnu::always_inline]] static void transpose(Sum const& sum, std::int64_t offset, std::int64_t ws, int columns,
                                               Load load, int padded, T* packed) {
    vector r[tile];
#pragma GCC unroll 8
    for (int c = 0; c < tile; ++c) r[c] = c < columns ? sum(offset + c * ws, load) : V::zero();
    V::store_transposed(r, packed, padded);
  }

  // The first `end` steps of panels of `full` elements of the width, in chunks of a few steps over all panels where the
  // width is contiguous, so that the source is read in long runs; else the depth is. The last panel is rounded up to
  // `granule` and filled with zeros.
  template <int W, typename Sum>
  static void pack(Sum const& given, std::int64_t ws, std::int64_t ds, int width, int end, int depth, int granule,
                   T* packed) {
    Sum const sum = given;
    constexpr int full = W ? W * lanes : nr, chunk = 8;
    int const panels = width / full, rest = width % full, padded = (rest + granule - 1) / granule * granule;
    std::int64_t const panel = static_cast<std::int64_t>(full) * depth;
    if (ws == 1) {
      for (int p = 0; p < end; p += chunk) {
        int const steps = p + chunk <= end ? chunk : end - p;
        for (int i = 0; i < panels; ++i) {
          T* const to = packed + i * panel + static_cast<std::int64_t>(p) * full;
          std::int64_t const from = static_cast<std::int64_t>(i) * full + p * ds;
          if constexpr (W != 0) pack_along<W>(sum, from, ds, steps, whole{}, to);
          else pack_narrow(sum, from, ds, steps, narrow{}, to);
        }
        if (rest > 0)
          pack_last<W>(sum, static_cast<std::int64_t>(panels) * full + p * ds, ds, steps, rest,
                       packed + panels * panel + static_cast<std::int64_t>(p) * padded);
      }
    } else {
      for (int first = 0; first < width; first += full)
        for (int c = 0, height = first + full <= width ? full : padded; c < height; c += tile)
          pack_across(sum, (static_cast<std::int64_t>(first) + c) * ws, ws, width - first - c, end, height,
                      packed + static_cast<std::int64_t>(first) * depth + c);
    }
    sum.tell();
  }
  // The steps from `begin` on where neither is contiguous, or where blocks have ended.
  template <int W>
  static void pack_strided(term<T> const* terms, int count, std::int64_t ws, std::int64_t ds, int width, int begin,
                           int depth, int granule, T* packed, T* largest) {
    constexpr int full = W ? W * lanes : nr;
    for (int first = 0; first < width; first += full) {
      int const left = width - first, padded = left >= full ? full : (left + granule - 1) / granule * granule;
      T* to = packed + static_cast<std::int64_t>(first) * depth + static_cast<std::int64_t>(begin) * padded;
      for (int p = begin; p < depth; ++p)
        for (int i = 0; i < padded; ++i) {
          T x = 0;
          for (int q = 0; q < count && i < left; ++q)
            if (p < terms[q].steps) {
              T const element = terms[q].data[(first + i) * ws + p * ds];
              if (largest != nullptr) raise_magnitude(*largest, element);
              x += terms[q].coefficient * element;
            }
          *to++ = x;
        }
    }
  }

  template <int W>
  static void pack_any(term<T> const* terms, int count, std::int64_t ws, std::int64_t ds, int width, int depth,
                       int granule, T* packed, T* largest) {
    // Steps that all terms have.
    int end = ws != 1 && ds != 1 ? 0 : depth;
    for (int q = 0; q < count; ++q)
      if (terms[q].steps < end) end = static_cast<int>(terms[q].steps);
    if (end > 0 && largest == nullptr) pack_steps<W>(terms, count, ws, ds, width, end, depth, granule, packed, blind{});
    else if (end > 0) pack_steps<W>(terms, count, ws, ds, width, end, depth, granule, packed, seeing{largest});
    if (end < depth) pack_strided<W>(terms, count, ws, ds, width, end, depth, granule, packed, largest);
  }
  template <int W, typename Eyes>
  static void pack_steps(term<T> const* terms, int count, std::int64_t ws, std::int64_t ds, int width, int end,
                         int depth, int granule, T* packed, Eyes eyes) {
    auto const of = [&](auto const& sum) { pack<W>(sum, ws, ds, width, end, depth, granule, packed); };
    switch (count) {
      case 1:
        return terms[0].coefficient == T(1) ? of(copy_of_one<Eyes>(terms, eyes)) : of(sum_of<1, Eyes>(terms, eyes));
      case 2:
        return of(sum_of<2, Eyes>(terms, eyes));
      case 3:
        return of(sum_of<3, Eyes>(terms, eyes));
      case 4:
        return of(sum_of<4, Eyes>(terms, eyes));
      default:
        return of(sum_of_many<Eyes>(terms, count, eyes));
    }
  }
  static void pack_a(term<T> const* terms, int count, std::int64_t rs, std::int64_t cs, int rows, int depth, T* packed,
                     T* largest) {
    pack_any<3>(terms, count, rs, cs, rows, depth, lanes, packed, largest);
  }
  static void pack_b(term<T> const* terms, int count, std::int64_t rs, std::int64_t cs, int depth, int cols, T* packed,
                     T* largest) {
    auto const [whole, last] = cut_columns<V>(cols);
    int col = 0;
    auto const pack_next = [&](int width) {
      term<T> moved[most_terms];
      for (int q = 0; q < count; ++q) moved[q] = {terms[q].data + col * cs, terms[q].coefficient, terms[q].steps};
      pack_any<nr % lanes == 0 ? nr / lanes : 0>(moved, count, cs, rs, width, depth, nr, packed, largest);
      col += width, packed += static_cast<std::int64_t>(width + nr - 1) / nr * nr * depth;
    };
    for (int const width : {whole * nr, last[0], last[1]})
      if (width > 0) pack_next(width);
  }
};

}  // namespace
}  // namespace heptad::cpu
