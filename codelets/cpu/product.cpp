// SPDX-License-Identifier: BSD-3-Clause
// The loops around the micro-kernel (Van Zee & van de Geijn 2015, with the block of A outside the columns of B) with
// Strassen's sums in the packing and its updates in the epilogue (Huang 2018, §3.2.2).
#include "codelets/cpu/product.hpp"

#include <algorithm>

#include "codelets/cpu/dot_products.hpp"
#include "codelets/cpu/slab_product.hpp"
#include "codelets/cpu/source_stream.hpp"
#include "codelets/cpu/terms.hpp"
#include "codelets/cpu/thin_blocks.hpp"
#include "codelets/cpu/thin_product.hpp"
#include "src/matrix/limits.hpp"

namespace heptad::cpu {
namespace {

// How the problem is cut, and where the pieces lie in the scratch (in elements). A block of A stays in L2 while B comes
// in groups of a few columns that L1 has room for, so that no packing step is longer than the multiplication that can
// hide its memory traffic.
struct layout {
  std::int64_t mc, kc, nc;
  std::int64_t columns;  // whose packed B is kept for the next blocks of A, or all
  bool keeps_b;
  std::int64_t packed_a, packed_b, buffer, total;
};

// How a product is cut: into blocks that fit the caches, of `deepest` k-steps at most; of fewer, more rows and columns.
struct cut {
  blocking blocks;
  std::int64_t deepest;
};

template <typename T>
cut whole_cut(kernel_set<T> const& kernels) {
  blocking const b = kernels.blocks();
  return {b, b.kc};
}

// A column-major A that few columns of B meet is mostly waited for. Where A is not asked for early, small blocks leave
// room in the second-level cache for B and the next block: measured on a Zen 3, 12 to 132 columns, 0.98 to 1.06 times
// as fast as in those that are cut as follows from caches, and 0.99 to 1.1 times from memory; in 200 and 256 columns
// 0.97 to 1.02 times. On a Zen 4 with AVX2, in single precision, 4 to 150 columns: 0.98 to 1.12 times as
// fast as in shallower ones, and 1.12 to 1.15 times where C is row-major. Elsewhere shallower blocks have longer
// columns to walk down, until C, read and written once a block, moves as much as A does: with A in memory, 8192 × 512,
// and 8 to 64 columns, 1.1 to 1.5 times as fast as in blocks for arithmetic (measured on a Zen 3 before it had the
// small ones).
template <typename T>
cut narrow_cut(kernel_set<T> const& kernels, std::int64_t m, std::int64_t n, std::int64_t k) {
  constexpr std::int64_t least = 4 * least_k_block, most_columns = 160, small_depth = 192;
  blocking b = kernels.blocks();
  if (kernels.asks_below) return {b, std::min<std::int64_t>(b.kc, std::max(round_up(2 * n, 16), least))};
  if (n > most_columns || m <= b.mc) return {b, b.kc};
  int const rows = b.kept > 0 ? b.mc_beside_kept : b.mc;
  b.mc = b.mc_beside_kept = rows / 2 / b.mr * b.mr;  // of b.kc k-steps; 3 to 11 tiles
  return {b, k > b.kc ? small_depth : b.kc};
}

template <typename T>
bool is_plain(product_call<T> const& call) {
  return call.a.size() == 1 && call.c.size() == 1;
}
template <typename T>
cut cut_of(kernel_set<T> const& kernels, product_call<T> const& call, variant how) {
  bool const column_major = call.a_rs == 1;
  if (how == variant::abc && is_plain(call) && column_major) return narrow_cut(kernels, call.m, call.n, call.k);
  return whole_cut(kernels);
}

// Few rows beside a row-major B are few columns beside a column-major A, which is in place, in slabs or copied; or
// packed, where its columns share cache sets. A kernel that asks for A early enough has ways of its own
// (thin_blocks.hpp). Measured on a Zen 4 with AVX2, B of 0.25 to 16 MB, in the mean over shapes: 2 and 4 rows are 2.3
// and 2.9 times as fast in single precision, 1.6 and 1.7 times in double, 6 to 70 rows 1 to 1.24 and 0.96 to 1.18
// times; where sets are shared, 20 to 50 rows 1.0 to 1.4 and 0.97 to 1.1 times. Of more rows than one tile has columns,
// those of 16 and 48 k-steps, or beside 100 columns, are down to 0.4 times as fast.
template <typename T>
bool may_have_rows_of_b(kernel_set<T> const& kernels, std::int64_t m, std::int64_t n, std::int64_t k) {
  constexpr std::int64_t few_steps = 48, least_steps = 128, least_columns = 144;
  constexpr std::int64_t least_bytes = 256 << 10;  // of B
  if (kernels.unpacked_rows == 0 || kernels.asks_below || m >= n) return false;
  blocking const b = kernels.blocks();
  if (m <= b.nr) return k >= few_steps;
  return m <= std::min(3 * b.mr, most_transposed) && n >= least_columns && k >= least_steps &&
         n * k * static_cast<std::int64_t>(sizeof(T)) >= least_bytes;
}
// Few columns beside a row-major A are few rows beside a column-major B, which is in place or for dot products.
// Measured on a Zen 4 with AVX2 (A of 200 to 6000 rows, 64 to 1000 k-steps): 1.0 to 1.6 times as fast in up to four
// tiles of rows; of fewer k-steps than these, or in more columns, 0.83 to 1.05 times.
template <typename T>
bool may_have_rows_of_a(kernel_set<T> const& kernels, std::int64_t m, std::int64_t n, std::int64_t k) {
  constexpr std::int64_t most_tiles = 4, steps_a_column = 4, least_steps = 96;
  if (kernels.unpacked_rows == 0 || kernels.asks_below || m <= n) return false;
  std::int64_t const most = std::min<std::int64_t>(most_tiles * kernels.blocks().mr, most_transposed);
  return n <= most && k >= std::max(steps_a_column * n, least_steps);
}
// Rows that fill tiles beside a B in place, or seven eighths of the only one, are faster as they are: 1.05 to 1.29
// times (measured there).
template <typename T>
bool fill_tiles(kernel_set<T> const& kernels, product_call<T> const& call) {
  return 8 * call.m >= 7 * kernels.blocks().mr && find_thin_sides(kernels, call).b;
}
template <typename T>
bool is_transposed(kernel_set<T> const& kernels, product_call<T> const& call) {
  bool const row_major_a = call.a_cs == 1 && call.a_rs != 1, row_major_b = call.b_cs == 1 && call.b_rs != 1;
  if (row_major_a && is_plain(call) && may_have_rows_of_a(kernels, call.m, call.n, call.k)) return true;
  return row_major_b && may_have_rows_of_b(kernels, call.m, call.n, call.k) && !fill_tiles(kernels, call);
}

template <typename T>
layout lay_out(cut const& into, std::int64_t m, std::int64_t n, std::int64_t k, variant how) {
  auto const& [b, deepest] = into;
  // Micro-kernels may read one k-step past a panel, and packed blocks a whole number of panels apart would share cache
  // sets.
  constexpr std::int64_t slack = 4096 / sizeof(T) + 64 / sizeof(T);
  layout l{};
  // Shallow blocks have room for more rows or columns: C is then walked down long columns, few times.
  auto const extended = [&](std::int64_t extent, std::int64_t granule) {
    std::int64_t const larger = extent * b.kc / round_up(std::clamp<std::int64_t>(k, 1, deepest), 16);
    return std::max(larger / granule, std::int64_t{1}) * granule;
  };
  l.kc = balanced(k, deepest, 16);
  l.keeps_b = b.kept > 0 && m > extended(b.mc, b.mr);
  l.mc = balanced(m, extended(l.keeps_b ? b.mc_beside_kept : b.mc, b.mr), b.mr);
  l.nc = balanced(n, extended(b.nc, b.nr), b.nr);
  l.columns = l.keeps_b ? balanced(n, extended(b.kept, l.nc), l.nc) : n;
  l.packed_a = 0;
  l.packed_b = l.packed_a + l.mc * l.kc + slack;
  l.buffer = l.packed_b + (l.keeps_b ? l.columns : l.nc) * l.kc + slack;
  bool const gathers = how == variant::ab && k > l.kc;
  l.total = l.buffer + (gathers ? round_up(m, l.mc) * round_up(n, l.nc) + slack : 0);
  return l;
}

// Where a block of A begins: its call, the columns of B that it is multiplied with, its depth and its rows.
template <typename T>
struct block_of_a {
  product_call<T> const* call;
  std::int64_t first, pc, ic;

  [[nodiscard]] std::int64_t end(layout const& l) const { return std::min(first + l.columns, call->n); }
  [[nodiscard]] block_of_a after(layout const& l) const {
    if (ic + l.mc < call->m) return {call, first, pc, ic + l.mc};
    if (pc + l.kc < call->k) return {call, first, pc + l.kc, 0};
    if (first + l.columns < call->n) return {call, first + l.columns, 0, 0};
    return {call->next, 0, 0, 0};
  }
};

// What will be packed after the macro-kernel for group jc of B: the next group, unless its packed form is kept, which
// the hardware follows by itself; and of the next block of A the slice that falls to this group.
template <typename T>
void stream_next(source_stream& stream, block_of_a<T> here, std::int64_t jc, layout const& l) {
  block_of_a<T> const after = here.after(l);
  auto add_b = [&](block_of_a<T> const& p, std::int64_t group) {
    if (l.keeps_b && p.ic > 0) return;
    stream_part<T>(stream, p.call->b, p.call->b_rs, p.call->b_cs, p.pc, group, std::min(l.kc, p.call->k - p.pc),
                   std::min(l.nc, p.end(l) - group));
  };
  if (jc + l.nc < here.end(l)) add_b(here, jc + l.nc);
  else if (after.call) add_b(after, after.first);
  if (!after.call) return;
  std::int64_t const depth = std::min(l.kc, after.call->k - after.pc);
  std::int64_t const groups = (here.end(l) - here.first + l.nc - 1) / l.nc, group = (jc - here.first) / l.nc;
  std::int64_t const first = depth * group / groups, end = depth * (group + 1) / groups;
  stream_part<T>(stream, after.call->a, after.call->a_rs, after.call->a_cs, after.ic, after.pc + first,
                 std::min(l.mc, after.call->m - after.ic), end - first);
}

template <typename T>
void scale_destinations(product_call<T> const& call) {
  for (destination<T> const& d : call.c)
    for (std::int64_t j = 0; j < call.n; ++j)
      for (std::int64_t i = 0; i < call.m; ++i) {
        T& at = d.data[i * call.c_rs + j * call.c_cs];
        at = d.beta == T(0) ? T(0) : d.beta * at;
      }
}

template <typename T>
std::size_t untransposed_scratch(kernel_set<T> const& kernels, std::int64_t m, std::int64_t n, std::int64_t k,
                                 variant how) {
  std::int64_t elements = lay_out<T>(whole_cut(kernels), m, n, k, how).total;
  if (how == variant::abc) elements = std::max(elements, lay_out<T>(narrow_cut(kernels, m, n, k), m, n, k, how).total);
  return std::max({static_cast<std::size_t>(elements) * sizeof(T), thin_scratch(kernels, m, n, k),
                   slab_scratch(kernels, m, n, k), dots_scratch(kernels)});
}

constexpr std::int64_t most_side = std::int64_t{1} << 30;  // micro-kernels count rows and columns in int

}  // namespace

template <typename T>
void product_in_parts(kernel_set<T> const& kernels, product_call<T> const& call, variant how, std::byte* scratch,
                      std::int64_t most) {
  term<T> a[most_terms], b[most_terms];
  destination<T> c[most_terms];
  for (std::int64_t j = 0; j < call.n; j += most)
    for (std::int64_t i = 0; i < call.m; i += most) {
      product_call<T> part = call;
      part.m = std::min(most, call.m - i);
      part.n = std::min(most, call.n - j);
      part.a = {a, static_cast<std::size_t>(move_terms(call.a, 0, i * call.a_rs, a))};
      part.b = {b, static_cast<std::size_t>(move_terms(call.b, 0, j * call.b_cs, b))};
      std::ranges::transform(call.c, c, [&](destination<T> const& d) {
        return destination<T>{d.data + i * call.c_rs + j * call.c_cs, d.coefficient, d.beta};
      });
      part.c = {c, call.c.size()};
      part.next = nullptr;
      product(kernels, part, how, scratch);
    }
}

template <typename T>
std::size_t product_scratch(kernel_set<T> const& kernels, std::int64_t m, std::int64_t n, std::int64_t k, variant how) {
  if (m > most_side)
    return std::max(product_scratch(kernels, most_side, n, k, how), product_scratch(kernels, m % most_side, n, k, how));
  if (n > most_side)
    return std::max(product_scratch(kernels, m, most_side, k, how), product_scratch(kernels, m, n % most_side, k, how));
  bool const may_be_transposed = may_have_rows_of_a(kernels, m, n, k) || may_have_rows_of_b(kernels, m, n, k);
  return std::max(untransposed_scratch(kernels, m, n, k, how),
                  may_be_transposed ? untransposed_scratch(kernels, n, m, k, how) : 0);
}

template <typename T>
void product(kernel_set<T> const& kernels, product_call<T> const& call, variant how, std::byte* scratch) {
  if (call.m <= 0 || call.n <= 0) return;
  if (call.k <= 0) return scale_destinations(call);
  if (std::max(call.m, call.n) > most_side) return product_in_parts(kernels, call, how, scratch, most_side);
  if (is_transposed(kernels, call)) return product(kernels, transposed(call), how, scratch);
  if (!is_ragged(call)) {
    if (is_for_dots(kernels, call)) return dot_products(kernels, call, scratch);
    if (is_for_slabs(kernels, call)) return slab_product(kernels, call, scratch);
    if (thin_sides const thin = find_thin_sides(kernels, call); thin.a || thin.b)
      return thin_product(kernels, call, thin, scratch);
  }

  destination<T> targets[most_terms];
  int const count = static_cast<int>(call.c.size());
  bool const c_far = is_c_far(call);
  microarchitecture const on = kernels.processor();

  layout const l = lay_out<T>(cut_of(kernels, call, how), call.m, call.n, call.k, how);
  T* const base = reinterpret_cast<T*>(scratch);
  T* const packed_a = base + l.packed_a;
  T* const packed_b = base + l.packed_b;

  auto const with_block_of_a = [&](block_of_a<T> const& at) {
    auto const [_, first_column, pc, ic] = at;
    int const depth = static_cast<int>(std::min(l.kc, call.k - pc));
    int const rows = static_cast<int>(std::min(l.mc, call.m - ic));
    bool const first = pc == 0, last = pc + l.kc >= call.k;
    gather mode = gather::direct;
    if (how == variant::ab && !(first && last)) mode = first ? gather::set : last ? gather::finish : gather::add;
    term<T> sum[most_terms];
    kernels.pack_a(sum, move_terms(call.a, pc, ic * call.a_rs + pc * call.a_cs, sum), call.a_rs, call.a_cs, rows, depth,
                   packed_a, call.largest_a);

    for (std::int64_t jc = first_column; jc < at.end(l); jc += l.nc) {
      int const cols = static_cast<int>(std::min(l.nc, at.end(l) - jc));
      T* const group = packed_b + (l.keeps_b ? (jc - first_column) * depth : 0);
      if (ic == 0 || !l.keeps_b)
        kernels.pack_b(sum, move_terms(call.b, pc, pc * call.b_rs + jc * call.b_cs, sum), call.b_rs, call.b_cs, depth,
                       cols, group, call.largest_b);
      for (int q = 0; q < count; ++q) {
        destination<T> const& d = call.c[q];
        bool const scaled = how == variant::ab || first;  // later k-blocks of ABC add to what the first one left
        targets[q] = {d.data + ic * call.c_rs + jc * call.c_cs, d.coefficient, scaled ? d.beta : T(1)};
      }
      source_stream stream;
      stream_next<T>(stream, at, jc, l);
      T* const gathered = base + l.buffer + jc * round_up(call.m, l.mc) + ic * round_up(cols, kernels.blocks().nr);
      kernels.macro({.rows = rows,
                     .cols = cols,
                     .depth = depth,
                     .a = packed_a,
                     .b = group,
                     .mode = mode,
                     .buffer = gathered,
                     .destinations = targets,
                     .count = count,
                     .rs = call.c_rs,
                     .cs = call.c_cs,
                     .prefetch = stream.empty() ? nullptr : &stream,
                     .c_far = c_far,
                     .on = on});
    }
  };
  for (block_of_a<T> at{&call, 0, 0, 0}; at.call == &call; at = at.after(l)) with_block_of_a(at);
}

template std::size_t product_scratch<float>(kernel_set<float> const&, std::int64_t, std::int64_t, std::int64_t,
                                            variant);
template std::size_t product_scratch<double>(kernel_set<double> const&, std::int64_t, std::int64_t, std::int64_t,
                                             variant);
template void product_in_parts<float>(kernel_set<float> const&, product_call<float> const&, variant, std::byte*,
                                      std::int64_t);
template void product_in_parts<double>(kernel_set<double> const&, product_call<double> const&, variant, std::byte*,
                                       std::int64_t);
template void product<float>(kernel_set<float> const&, product_call<float> const&, variant, std::byte*);
template void product<double>(kernel_set<double> const&, product_call<double> const&, variant, std::byte*);

}  // namespace heptad::cpu
