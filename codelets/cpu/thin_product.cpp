// SPDX-License-Identifier: BSD-3-Clause
#include "codelets/cpu/thin_product.hpp"

#include <algorithm>

#include "codelets/cpu/terms.hpp"

namespace heptad::cpu {
namespace {

// Up to so many tiles in a direction, packing the operand across it costs more than it saves (measured).
constexpr std::int64_t few_row_tiles = 4, few_column_tiles = 2, small_row_tiles = 8, small_column_tiles = 24;

// k-steps in a block. A long A is read in as many streams as the processor's prefetchers follow.
constexpr std::int64_t short_a_kc = 1024, long_a_kc = 32;

template <typename T>
constexpr std::int64_t slack = 4096 / sizeof(T);  // micro-kernels may read one k-step past a panel

}  // namespace

template <typename T>
thin_sides find_thin_sides(kernel_set<T> const& kernels, product_call<T> const& call) {
  if (kernels.unpacked_rows == 0) return {};
  blocking const b = kernels.blocks();
  bool const small = call.m <= small_row_tiles * b.mr && call.n <= small_column_tiles * b.nr;
  return {.a = call.a.size() == 1 && call.a_rs == 1 && (small || call.n <= few_column_tiles * b.nr),
          .b = call.b.size() == 1 && (small || call.m <= few_row_tiles * b.mr)};
}

template <typename T>
std::size_t thin_scratch(kernel_set<T> const& kernels, std::int64_t m, std::int64_t n) {
  blocking const b = kernels.blocks();
  std::int64_t const rows = round_up(std::min<std::int64_t>(m, small_row_tiles * b.mr), b.mr);
  std::int64_t const cols = round_up(std::min<std::int64_t>(n, small_column_tiles * b.nr), b.nr);
  return static_cast<std::size_t>((rows + cols) * short_a_kc + 2 * slack<T>) * sizeof(T);
}

template <typename T>
void thin_product(kernel_set<T> const& kernels, product_call<T> const& call, thin_sides thin, std::byte* scratch) {
  blocking const blocks = kernels.blocks();
  std::int64_t const kc = call.m <= small_row_tiles * blocks.mr ? short_a_kc : long_a_kc;
  std::int64_t const group = thin.b ? call.n : std::min<std::int64_t>(call.n, small_column_tiles * blocks.nr);
  std::int64_t const whole_rows = thin.a ? call.m - call.m % kernels.unpacked_rows : 0;  // the others are packed
  std::int64_t const packed_rows = call.m - whole_rows;
  T* const packed_a = reinterpret_cast<T*>(scratch);
  T* const packed_b = packed_a + round_up(packed_rows, blocks.mr) * kc + slack<T>;
  // The coefficient of an operand that is not packed goes to the destinations.
  T const a_factor = thin.a ? call.a[0].coefficient : T(1), b_factor = thin.b ? call.b[0].coefficient : T(1);

  term<T> sum[most_terms];
  destination<T> targets[most_terms];

  for (std::int64_t pc = 0; pc < call.k; pc += kc) {
    int const depth = static_cast<int>(std::min(kc, call.k - pc));
    if (packed_rows > 0) {
      int const terms = move_terms(call.a, whole_rows * call.a_rs + pc * call.a_cs, sum);
      if (thin.a) sum[0].coefficient = T(1);
      kernels.pack_a(sum, terms, call.a_rs, call.a_cs, static_cast<int>(packed_rows), depth, packed_a);
    }
    for (std::int64_t jc = 0; jc < call.n; jc += group) {
      int const cols = static_cast<int>(std::min(group, call.n - jc));
      std::int64_t const b_offset = pc * call.b_rs + jc * call.b_cs;
      if (!thin.b) kernels.pack_b(sum, move_terms(call.b, b_offset, sum), call.b_rs, call.b_cs, depth, cols, packed_b);

      macro_call<T> tiles{.rows = 0,
                          .cols = cols,
                          .depth = depth,
                          .a = nullptr,
                          .b = packed_b,
                          .mode = gather::direct,
                          .buffer = nullptr,
                          .destinations = targets,
                          .count = static_cast<int>(call.c.size()),
                          .rs = call.c_rs,
                          .cs = call.c_cs,
                          .prefetch = nullptr};
      if (thin.b) {
        tiles.b = call.b[0].data + b_offset;
        tiles.b_unpacked = true;
        tiles.b_step = call.b_rs, tiles.b_column = call.b_cs;
      }
      auto const run = [&](std::int64_t first, std::int64_t rows, T const* a, bool unpacked) {
        if (rows == 0) return;
        for (std::size_t q = 0; q < call.c.size(); ++q) {
          destination<T> const& d = call.c[q];
          targets[q] = {d.data + first * call.c_rs + jc * call.c_cs, d.coefficient * a_factor * b_factor,
                        pc == 0 ? d.beta : T(1)};
        }
        tiles.rows = static_cast<int>(rows);
        tiles.a = a;
        tiles.a_unpacked = unpacked;
        tiles.a_step = call.a_cs;
        kernels.macro(tiles);
      };
      run(0, whole_rows, call.a[0].data + pc * call.a_cs, true);
      run(whole_rows, packed_rows, packed_a, false);
    }
  }
}

template thin_sides find_thin_sides(kernel_set<float> const&, product_call<float> const&);
template thin_sides find_thin_sides(kernel_set<double> const&, product_call<double> const&);
template std::size_t thin_scratch(kernel_set<float> const&, std::int64_t, std::int64_t);
template std::size_t thin_scratch(kernel_set<double> const&, std::int64_t, std::int64_t);
template void thin_product(kernel_set<float> const&, product_call<float> const&, thin_sides, std::byte*);
template void thin_product(kernel_set<double> const&, product_call<double> const&, thin_sides, std::byte*);

}  // namespace heptad::cpu
