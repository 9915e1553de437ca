// SPDX-License-Identifier: BSD-3-Clause
#include "codelets/cpu/thin_product.hpp"

#include <algorithm>
#include <chrono>

#include "codelets/cpu/terms.hpp"
#include "src/matrix/limits.hpp"

namespace heptad::cpu {
namespace {

// After a block of an A in place, of `rows` rows in all: the one at (ic, pc), or the first one of the next k-steps, and
// their B.
template <typename T>
void stream_next(source_stream& stream, product_call<T> const& call, std::int64_t rows, thin_blocks const& size,
                 std::int64_t pc, std::int64_t ic) {
  if (ic >= rows) {
    ic = 0, pc += size.depth;
    stream_part<T>(stream, call.b, call.b_rs, call.b_cs, pc, 0, std::min(size.depth, call.k - pc), call.n);
  }
  stream_part<T>(stream, call.a, call.a_rs, call.a_cs, ic, pc, std::min(size.rows, rows - ic),
                 std::min(size.depth, call.k - pc));
}

struct columns_of_c {
  std::int64_t first, count;
};

// Multiplies a block of A by its first columns and by as many beside them, and tells where the block came from.
template <typename Run>
bool comes_from_far(columns_of_c first, columns_of_c beside, double slowness, Run const& run) {
  using clock = std::chrono::steady_clock;
  auto const begin = clock::now();
  run(first);
  auto const fetched = clock::now();
  run(beside);
  std::chrono::duration<double> const there = fetched - begin, here = clock::now() - fetched;
  return there * beside.count > slowness * here * first.count;
}

// Of a column-major B in place, what tiles will read after the first ones: the other columns of these k-steps, then the
// first ones of the next.
template <typename T>
void stream_columns(source_stream& stream, product_call<T> const& call, std::int64_t pc, std::int64_t depth,
                    std::int64_t tile) {
  std::int64_t const first = std::min(tile, call.n), next = pc + depth;
  stream_part<T>(stream, call.b, 1, call.b_cs, pc, first, depth, call.n - first);
  stream_part<T>(stream, call.b, 1, call.b_cs, next, 0, std::min(depth, call.k - next), first);
}

}  // namespace

template <typename T>
void thin_product(kernel_set<T> const& kernels, product_call<T> const& call, thin_sides thin, std::byte* scratch) {
  if (thin.transposed) return thin_product(kernels, transposed(call), {.a = thin.a, .b = thin.b}, scratch);
  if (thin.a) look_at(call.a, call.m, call.k, call.a_rs, call.a_cs, call.largest_a);
  if (thin.b) look_at(call.b, call.k, call.n, call.b_rs, call.b_cs, call.largest_b);
  blocking const blocks = kernels.blocks();
  thin_blocks const size = choose_thin_blocks(kernels, call, thin);
  std::int64_t const kc = size.depth, mc = size.rows;
  thin_layout const l = lay_out(kernels, call, thin, size);
  std::int64_t const packed_rows = l.packed_rows, whole_rows = call.m - packed_rows;
  T* const packed_a = reinterpret_cast<T*>(scratch);
  T* const copied_a = packed_a + l.copied_a;
  T* const packed_b = packed_a + l.packed_b;
  // The coefficient of an operand that is not packed goes to the destinations.
  T const a_factor = thin.a ? call.a[0].coefficient : T(1), b_factor = thin.b ? call.b[0].coefficient : T(1);

  bool asks = size.next == next_block::asked, fetches = size.fetches;
  term<T> sum[most_terms];
  destination<T> targets[most_terms];

  for (std::int64_t pc = 0; pc < call.k; pc += kc) {
    int const depth = static_cast<int>(std::min(kc, call.k - pc));
    if (packed_rows > 0) {
      int const terms = move_terms(call.a, pc, whole_rows * call.a_rs + pc * call.a_cs, sum);
      if (thin.a) sum[0].coefficient = T(1);
      kernels.pack_a(sum, terms, call.a_rs, call.a_cs, static_cast<int>(packed_rows), depth, packed_a,
                     thin.a ? nullptr : call.largest_a);
    }
    if (!thin.b)
      kernels.pack_b(sum, move_terms(call.b, pc, pc * call.b_rs, sum), call.b_rs, call.b_cs, depth,
                     static_cast<int>(call.n), packed_b, call.largest_b);

    source_stream columns(asked_into::first_level);
    if (size.b_ahead) stream_columns(columns, call, pc, depth, blocks.nr);
    if (size.a_beside)
      stream_part<T>(columns, call.a, 1, call.a_cs, 0, pc + kc, whole_rows, std::min(kc, call.k - pc - kc));
    macro_call<T> tiles{.rows = 0,
                        .cols = static_cast<int>(call.n),
                        .depth = depth,
                        .a = nullptr,
                        .b = packed_b,
                        .destinations = targets,
                        .count = static_cast<int>(call.c.size()),
                        .rs = call.c_rs,
                        .cs = call.c_cs,
                        .prefetch = columns.empty() ? nullptr : &columns,
                        .c_far = is_c_far(call),
                        .on = kernels.processor()};
    if (thin.b) {
      tiles.b = call.b[0].data + pc * call.b_rs;
      tiles.b_unpacked = true;
      tiles.b_step = call.b_rs, tiles.b_column = call.b_cs;
    }
    T const* const b = tiles.b;
    auto const run = [&](std::int64_t first, std::int64_t rows, T const* a, bool unpacked, columns_of_c cols) {
      if (rows == 0 || cols.count == 0) return;
      std::ranges::transform(call.c, targets, [&](destination<T> const& d) {
        return destination<T>{d.data + first * call.c_rs + cols.first * call.c_cs, d.coefficient * a_factor * b_factor,
                              pc == 0 ? d.beta : T(1)};
      });
      tiles.rows = static_cast<int>(rows);
      tiles.cols = static_cast<int>(cols.count);
      tiles.a = a;
      tiles.a_unpacked = unpacked;
      tiles.a_ahead = fetches ? asked_into::second_level : size.a_ahead;
      tiles.a_step = call.a_cs;
      tiles.b = b + (thin.b ? cols.first * call.b_cs : round_up(cols.first, blocks.nr) * depth);
      kernels.macro(tiles);
      tiles.prefetch = nullptr;
      fetches = false;
    };
    for (std::int64_t ic = 0, rows; ic < whole_rows; ic += rows) {
      T const* const a = call.a[0].data + ic + pc * call.a_cs;
      // One tile of rows, as all the rest waits for it.
      bool const tells = size.next == next_block::by_time && pc == 0 && ic == 0;
      rows = std::min<std::int64_t>(tells ? blocks.mr : mc, whole_rows - ic);
      std::int64_t done = 0;  // columns
      if (tells) {
        // Tiles are those of the whole C, for which B was packed: whatever they tell, all bits of C are the same.
        std::int64_t const first = kernels.first_tile(static_cast<int>(call.n));
        done = call.n < 3 * blocks.nr ? call.n : 2 * blocks.nr;
        asks = comes_from_far({0, first}, {first, done - first}, size.far_slowness,
                              [&](columns_of_c cols) { run(ic, rows, a, true, cols); });
      }
      source_stream stream;
      if (asks) {
        if (tells && thin.b) stream_part<T>(stream, call.b, call.b_rs, call.b_cs, pc, done, depth, call.n - done);
        stream_next<T>(stream, call, whole_rows, size, pc, ic + rows);
      }
      bool const copies = size.copies && done == 0;
      if (copies) {
        // These tiles wait for A, and leave it packed for those beside them.
        done = kernels.first_tile(static_cast<int>(call.n));
        tiles.a_copy = copied_a;
        run(ic, rows, a, true, {0, done});
        tiles.a_copy = nullptr;
      }
      if (!stream.empty()) tiles.prefetch = &stream;
      run(ic, rows, copies ? copied_a : a, !copies, {done, call.n - done});
    }
    run(whole_rows, packed_rows, packed_a, false, {0, call.n});
  }
}

template void thin_product(kernel_set<float> const&, product_call<float> const&, thin_sides, std::byte*);
template void thin_product(kernel_set<double> const&, product_call<double> const&, thin_sides, std::byte*);

}  // namespace heptad::cpu
