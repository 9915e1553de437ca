// SPDX-License-Identifier: BSD-3-Clause
#include "codelets/cpu/thin_product.hpp"

#include <algorithm>

#include "codelets/cpu/terms.hpp"

namespace heptad::cpu {
namespace {

// Up to so many tiles in a direction, packing the operand across it costs more than it saves (measured).
constexpr std::int64_t few_row_tiles = 4, few_column_tiles = 4, small_row_tiles = 14, small_column_tiles = 40;
constexpr std::int64_t more_column_tiles = 13, enough_depth = 128;  // the former where so many k-steps of A stay near

// What is read again for every tile should stay in the second-level cache.
constexpr std::int64_t near_bytes = 1 << 20, most_depth = 1024;
// A row-major B in place is walked along its rows, so many at once that the hardware follows them (measured: with more
// the product takes up to twice as long, and with fewer it waits for C).
constexpr std::int64_t rows_at_once = 48;
constexpr std::int64_t long_row = 2048;  // bytes; shorter ones have nothing to walk along

template <typename T>
constexpr std::int64_t slack = 4096 / sizeof(T);  // micro-kernels may read one k-step past a panel

// k-steps in a block; a long A is thus read in few streams.
template <typename T>
std::int64_t block_depth(product_call<T> const& call, thin_sides thin) {
  bool const along_rows = thin.b && call.b_rs != 1 && call.n * static_cast<std::int64_t>(sizeof(T)) >= long_row;
  if (along_rows) return std::min(call.k, rows_at_once);
  std::int64_t const step_bytes = (call.m + (thin.a ? call.n : 0)) * static_cast<std::int64_t>(sizeof(T));
  return std::min(call.k, std::clamp<std::int64_t>((near_bytes / step_bytes + 8) / 16 * 16, 16, most_depth));
}

// The operands that a shape lets be read in place.
template <typename T>
thin_sides thin_shape(kernel_set<T> const& kernels, std::int64_t m, std::int64_t n) {
  if (kernels.unpacked_rows == 0) return {};
  blocking const b = kernels.blocks();
  bool const small = m <= small_row_tiles * b.mr && n <= small_column_tiles * b.nr;
  bool const short_a = m * enough_depth * static_cast<std::int64_t>(sizeof(T)) <= near_bytes;
  return {.a = small || n <= (short_a ? more_column_tiles : few_column_tiles) * b.nr,
          .b = small || m <= few_row_tiles * b.mr};
}

}  // namespace

template <typename T>
thin_sides find_thin_sides(kernel_set<T> const& kernels, product_call<T> const& call) {
  auto const [a, b] = thin_shape(kernels, call.m, call.n);
  bool const b_here = call.b_rs == 1 || call.m <= few_row_tiles * kernels.blocks().mr;
  return {.a = a && call.a.size() == 1 && call.a_rs == 1, .b = b && b_here && call.b.size() == 1};
}

template <typename T>
std::size_t thin_scratch(kernel_set<T> const& kernels, std::int64_t m, std::int64_t n, std::int64_t k) {
  thin_sides const thin = thin_shape(kernels, m, n);
  if (!thin.a && !thin.b) return 0;
  blocking const b = kernels.blocks();
  std::int64_t const rows = thin.b ? round_up(m, b.mr) : b.mr;  // beside an A in place, what is no whole vector
  std::int64_t const cols = thin.a ? round_up(n, b.nr) : 0;
  return static_cast<std::size_t>((rows + cols) * std::min(k, most_depth) + 2 * slack<T>) * sizeof(T);
}

template <typename T>
void thin_product(kernel_set<T> const& kernels, product_call<T> const& call, thin_sides thin, std::byte* scratch) {
  blocking const blocks = kernels.blocks();
  std::int64_t const kc = block_depth(call, thin);
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
    if (!thin.b)
      kernels.pack_b(sum, move_terms(call.b, pc * call.b_rs, sum), call.b_rs, call.b_cs, depth,
                     static_cast<int>(call.n), packed_b);

    macro_call<T> tiles{.rows = 0,
                        .cols = static_cast<int>(call.n),
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
      tiles.b = call.b[0].data + pc * call.b_rs;
      tiles.b_unpacked = true;
      tiles.b_step = call.b_rs, tiles.b_column = call.b_cs;
    }
    auto const run = [&](std::int64_t first, std::int64_t rows, T const* a, bool unpacked) {
      if (rows == 0) return;
      std::ranges::transform(call.c, targets, [&](destination<T> const& d) {
        return destination<T>{d.data + first * call.c_rs, d.coefficient * a_factor * b_factor, pc == 0 ? d.beta : T(1)};
      });
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

template thin_sides find_thin_sides(kernel_set<float> const&, product_call<float> const&);
template thin_sides find_thin_sides(kernel_set<double> const&, product_call<double> const&);
template std::size_t thin_scratch(kernel_set<float> const&, std::int64_t, std::int64_t, std::int64_t);
template std::size_t thin_scratch(kernel_set<double> const&, std::int64_t, std::int64_t, std::int64_t);
template void thin_product(kernel_set<float> const&, product_call<float> const&, thin_sides, std::byte*);
template void thin_product(kernel_set<double> const&, product_call<double> const&, thin_sides, std::byte*);

}  // namespace heptad::cpu
