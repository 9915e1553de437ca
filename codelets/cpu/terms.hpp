// SPDX-License-Identifier: BSD-3-Clause
// What the loops around the macro-kernel share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "codelets/cpu/magnitude.hpp"
#include "codelets/cpu/product.hpp"
#include "codelets/cpu/scan.hpp"
#include "codelets/cpu/source_stream.hpp"
#include "src/matrix/limits.hpp"

namespace heptad::cpu {

constexpr std::int64_t round_up(std::int64_t x, std::int64_t granule) { return (x + granule - 1) / granule * granule; }

/// Columns a multiple of so many bytes apart are in half of the sets of a first-level cache at most.
inline constexpr std::int64_t few_sets = same_sets / 2;

/// Equal blocks of at most `largest`, a multiple of `granule`.
constexpr std::int64_t balanced(std::int64_t extent, std::int64_t largest, std::int64_t granule) {
  std::int64_t const count = std::max<std::int64_t>(1, (extent + largest - 1) / largest);
  return std::max(granule, round_up((extent + count - 1) / count, granule));
}

/// Cᵀ = Bᵀ Aᵀ, of which nothing follows.
template <typename T>
product_call<T> transposed(product_call<T> const& x) {
  return {x.n,    x.m, x.k,    x.b,    x.b_cs,  x.b_rs,      x.a,        x.a_cs,
          x.a_rs, x.c, x.c_cs, x.c_rs, nullptr, x.largest_b, x.largest_a};
}

/// Looks at blocks that are not packed. Null: it does not.
template <typename T>
void look_at(std::span<term<T> const> terms, std::int64_t rows, std::int64_t cols, std::int64_t rs, std::int64_t cs,
             T* largest) {
  if (largest == nullptr) return;
  for (term<T> const& t : terms) raise_magnitude(*largest, largest_magnitude(t.data, rows, cols, rs, cs));
}

/// Whether the destinations are more than the second-level cache holds. With less depth than asking for them usually
/// pays, 16 to 60 k-steps, it then does: 1.01 to 1.08 times as fast; nearer ones take 1.01 to 1.07 times as long
/// (measured on a Zen 4, AVX-512 and AVX2).
template <typename T>
bool is_c_far(product_call<T> const& call) {
  constexpr std::int64_t far_bytes = 4 << 20;
  return call.m * call.n * static_cast<std::int64_t>(call.c.size() * sizeof(T)) >= far_bytes;
}

/// Sets `moved` to the same sum from a k-step on, `offset` elements further; returns how many terms still have steps.
template <typename T>
int move_terms(std::span<term<T> const> terms, std::int64_t first_step, std::int64_t offset,
               term<T> (&moved)[most_terms]) {
  int count = 0;
  for (term<T> const& t : terms)
    if (t.steps > first_step) moved[count++] = {t.data + offset, t.coefficient, t.steps - first_step};
  return count;
}

/// Whether a block of the sums ends before the depth does.
template <typename T>
bool is_ragged(product_call<T> const& call) {
  auto const ends = [&](term<T> const& t) { return t.steps < call.k; };
  return std::ranges::any_of(call.a, ends) || std::ranges::any_of(call.b, ends);
}

/// Adds the part of a sum's blocks that starts at (row, col) to the background prefetch.
template <typename T>
void stream_part(source_stream& stream, std::span<term<T> const> terms, std::int64_t rs, std::int64_t cs,
                 std::int64_t row, std::int64_t col, std::int64_t rows, std::int64_t cols) {
  constexpr auto bytes = static_cast<std::int64_t>(sizeof(T));
  for (term<T> const& t : terms) {
    T const* first = t.data + row * rs + col * cs;
    if (rs == 1) stream.add(first, rows * bytes, cs * bytes, cols);
    else if (cs == 1) stream.add(first, cols * bytes, rs * bytes, rows);
  }
}

}  // namespace heptad::cpu
