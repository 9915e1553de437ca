// SPDX-License-Identifier: BSD-3-Clause
#include "codelets/cpu/slab_product.hpp"

#include <algorithm>

#include "codelets/cpu/terms.hpp"
#include "src/matrix/limits.hpp"

namespace heptad::cpu {
namespace {

// Fewer columns are one tile of an A in place, which a smaller A is too. Of more columns an A that tiles copy is faster
// (by up to 1.09 times in 24 of single and 16 of double), and of fewer rows, or where its columns are half as far apart
// as those that share cache sets, one that is packed: in slabs these would not stay in the first-level cache. Measured
// on a Zen 4 with AVX2, A of 0.25 to 8 MB: so many columns take 0.75 to 1.07 of the time of an A in place, and from
// memory 0.28 to 0.9.
constexpr std::int64_t least_columns = 5, least_rows = 144, least_bytes = 256 << 10;
template <typename T>
constexpr std::int64_t most_columns = sizeof(T) == sizeof(float) ? 20 : 14;
// Into a row-major C, which tiles reach by way of memory after every slab: of 24 to 100 k-steps, 14 to 20 columns in
// single precision are 1.2 to 2.1 times as fast in other ways, and 14 in double within the noise (measured there).
constexpr std::int64_t most_columns_by_rows = 12;
// k-steps: the columns of a slab are about as many pages as the core remembers.
constexpr std::int64_t most_depth = 96;

template <typename T>
bool have_slabs(kernel_set<T> const& kernels, std::int64_t m, std::int64_t n) {
  return n >= least_columns && n <= most_columns<T> && kernels.slab_rows > 0 && m >= least_rows;
}

template <typename T>
bool is_in_slabs(kernel_set<T> const& kernels, product_call<T> const& call) {
  constexpr auto element = static_cast<std::int64_t>(sizeof(T));
  if (!have_slabs(kernels, call.m, call.n) || call.a.size() != 1 || call.a_rs != 1) return false;
  if (call.c_rs != 1 && call.n > most_columns_by_rows) return false;
  return call.m * call.k * element >= least_bytes && call.a_cs * element % few_sets != 0;
}

std::int64_t depth_of(std::int64_t k) { return balanced(k, most_depth, least_k_block); }

struct slab_layout {
  std::int64_t packed_b, total;  // in elements, behind the packed rows of A
};

template <typename T>
slab_layout lay_out(kernel_set<T> const& kernels, std::int64_t n, std::int64_t depth) {
  // Packing may write, and micro-kernels read, beyond a panel.
  constexpr std::int64_t slack = 4096 / sizeof(T);
  blocking const b = kernels.blocks();
  slab_layout l{};
  l.packed_b = b.mr * depth + slack;
  l.total = l.packed_b + 2 * round_up(n, b.nr) * depth + slack;  // a tile begins a panel
  return l;
}

}  // namespace

template <typename T>
bool is_for_slabs(kernel_set<T> const& kernels, product_call<T> const& call) {
  return is_in_slabs(kernels, call) || is_in_slabs(kernels, transposed(call));
}

template <typename T>
std::size_t slab_scratch(kernel_set<T> const& kernels, std::int64_t m, std::int64_t n, std::int64_t k) {
  auto const bytes = [&](std::int64_t rows, std::int64_t columns) {
    return have_slabs(kernels, rows, columns)
               ? lay_out(kernels, columns, depth_of(k)).total * static_cast<std::int64_t>(sizeof(T))
               : 0;
  };
  return static_cast<std::size_t>(std::max(bytes(m, n), bytes(n, m)));
}

template <typename T>
void slab_product(kernel_set<T> const& kernels, product_call<T> const& given, std::byte* scratch) {
  product_call<T> const call = is_in_slabs(kernels, given) ? given : transposed(given);
  look_at(call.a, call.m, call.k, call.a_rs, call.a_cs, call.largest_a);
  // Rows that are no whole vector are packed, with the others of their slab, and filled with zeros.
  std::int64_t const rest = call.m % kernels.unpacked_rows == 0 ? 0 : call.m % kernels.slab_rows, whole = call.m - rest;
  std::int64_t const kc = depth_of(call.k);
  T* const packed_a = reinterpret_cast<T*>(scratch);
  T* const packed_b = packed_a + lay_out(kernels, call.n, kc).packed_b;
  T const* const a = call.a[0].data;
  term<T> sum[most_terms];
  destination<T> targets[most_terms];
  for (std::int64_t pc = 0; pc < call.k; pc += kc) {
    int const depth = static_cast<int>(std::min(kc, call.k - pc));
    kernels.pack_b_beside_slabs(sum, move_terms(call.b, pc, pc * call.b_rs, sum), call.b_rs, call.b_cs, depth,
                                static_cast<int>(call.n), packed_b, call.largest_b);
    auto const run = [&](std::int64_t first, std::int64_t rows, T const* from, std::int64_t step,
                         std::int64_t following) {
      std::ranges::transform(call.c, targets, [&](destination<T> const& d) {
        return destination<T>{d.data + first * call.c_rs, d.coefficient * call.a[0].coefficient,
                              pc == 0 ? d.beta : T(1)};
      });
      kernels.slabs({.rows = static_cast<int>(rows),
                     .cols = static_cast<int>(call.n),
                     .depth = depth,
                     .a = from,
                     .b = packed_b,
                     .destinations = targets,
                     .count = static_cast<int>(call.c.size()),
                     .rs = call.c_rs,
                     .cs = call.c_cs,
                     .a_unpacked = true,
                     .a_step = step,
                     .following_steps = static_cast<int>(following)});
    };
    run(0, whole, a + pc * call.a_cs, call.a_cs, std::min(kc, call.k - pc - depth));
    if (rest == 0) continue;
    int const terms = move_terms(call.a, pc, whole + pc * call.a_cs, sum);
    sum[0].coefficient = T(1);
    kernels.pack_a(sum, terms, 1, call.a_cs, static_cast<int>(rest), depth, packed_a, nullptr);
    run(whole, rest, packed_a, round_up(rest, kernels.unpacked_rows), 0);
  }
}

#define HEPTAD_FOR(T)                                                                                \
  template bool is_for_slabs(kernel_set<T> const&, product_call<T> const&);                          \
  template std::size_t slab_scratch(kernel_set<T> const&, std::int64_t, std::int64_t, std::int64_t); \
  template void slab_product(kernel_set<T> const&, product_call<T> const&, std::byte*);
HEPTAD_FOR(float)
HEPTAD_FOR(double)
#undef HEPTAD_FOR

}  // namespace heptad::cpu
