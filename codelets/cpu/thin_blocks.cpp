// SPDX-License-Identifier: BSD-3-Clause
#include "codelets/cpu/thin_blocks.hpp"

#include <algorithm>

#include "codelets/cpu/terms.hpp"
#include "src/matrix/limits.hpp"

namespace heptad::cpu {
namespace {

// Up to so many tiles in a direction, packing the operand across it costs more than it saves (measured).
constexpr std::int64_t few_row_tiles = 4, few_column_tiles = 4, small_row_tiles = 14, small_column_tiles = 40;
// A kernel that asks for A only a few k-steps ahead reads it again, from the second-level cache, for every tile of
// columns: it has it in place in few of them; in more if A is as small as this, the more the fewer its k-steps; and in
// more yet of one tile of rows. Packed from there on, 16 to 160 columns of an A of up to 1 MB take 0.72 to 1.02 of the
// time (measured on a Zen 4 with AVX2).
constexpr std::int64_t near_tiles = 3, most_small_a_tiles = 8, small_a_steps = 960, small_a_bytes = 256 << 10;
constexpr std::int64_t row_tile_tiles = 20, small_depth = 2048;
// A larger A beside more than near_tiles, up to so many bytes of a row of C: the first tile of columns leaves it packed
// for the others, in blocks of asked_row_tiles, of which the next one is asked for meanwhile. Packed before, 28 to 128
// columns in single precision take 1.02 to 1.15 times as long from caches and 1 to 1.15 times from memory, 28 to 64 in
// double 1 to 1.08 and 1 to 1.13 times; but fewer rows than these, which are one block, as little as 0.8 times
// (measured on a Zen 4 with AVX2, A of 0.25 to 32 MB).
constexpr std::int64_t least_copied_rows = 144, most_copied_row = 512;
// A row-major B is in place for one tile of rows, up to so many bytes, as nothing asks memory for it ahead. A second
// one fetches its lines again: packed, 24 to 48 rows are up to 3 times as fast on a Zen 3. A second-level cache of
// 1 MiB, which blocks of so many bytes tell of, has them still, for two to four whole tiles, and for any rows beside
// short ones of B: in place these are 1.02 to 1.2 times as fast as packed (measured on a Zen 4 with AVX2).
constexpr std::int64_t largest_row_major_b = 4 << 20;  // bytes
constexpr std::int64_t most_tiles_beside_rows = 4, least_far_block = 300 << 10;
// It is walked along its rows, so many at once that the hardware follows them (measured: with more the product takes up
// to twice as long, and with fewer it waits for C).
constexpr std::int64_t rows_at_once = 48;
constexpr std::int64_t long_row = 2048;  // bytes; shorter ones have nothing to walk along
// An A from memory, of tiles that share cache lines with their neighbours: only in so few columns are these lines still
// there for the neighbour (fewer k-steps than 16 are more additions to C than the error bound counts). From far_bytes
// on a kernel that asks for A only a few k-steps ahead takes it as coming from there: others use a third-level cache
// too. Measured on a Zen 3 (A of 8 to 22 MB, 3 and 4 columns of C): 1 to 2 times as fast as in deep blocks.
constexpr std::int64_t memory_bytes = 16 << 20, few_columns = least_k_block;
constexpr std::int64_t far_bytes = 8 << 20;

// A kernel that asks for the columns of A early enough has it in place in more tiles, wherever these columns lie, in
// blocks of few tiles of rows; from memory, for few columns of C, in shallower ones. Measured on a Zen 4 (8 to 128
// columns of C): 1.02 to 1.7 times as fast as packed. In 150 to 300 columns of C it is 1.02 to 1.09 times as fast, but
// for columns of A that share cache sets; in 100 to 190, where these begin within cache lines, 1 to 1.1 times.
constexpr std::int64_t asked_tiles = 32, asked_same_sets_tiles = 16, asked_unaligned_tiles = 24, asked_row_tiles = 5,
                       asked_depth = 512, asked_memory_depth = 128;
// From this size of A on the next block is asked for meanwhile, and the first one, for which all wait, is at most a
// part of the rows, and of two tiles beside more than few_column_tiles, 1 to 1.02 times as fast as five (of 20 columns
// in double 0.94 times). Measured on a Zen 4 (A of 0.13 to 20 MB, 8 to 250 columns of C): from memory 1 to 1.7 times as
// fast, from caches 0.99 to 2 times. Beside a smaller one, or one with fewer rows than C has columns, the columns of B
// in place are asked for first: otherwise 160×300×300 loses 4 to 10 % from memory, and 64×200×500 2 % from caches.
constexpr std::int64_t asked_next_bytes = 128 << 10, asked_least_tiles = 2, asked_parts = 6;
// A Zen 5 follows the columns of A better by itself: asking takes 1.1 to 1.33 times as long there, from its caches and
// from memory, but for 8 columns of C in double, 0.9 to 0.96 times (8192×8×512).
template <typename T>
bool follows_columns(kernel_set<T> const& kernels) {
  return kernels.asks_below && kernels.processor() == microarchitecture::amd_from_zen5;
}
// An Intel core looks so far ahead in its instructions that it finds a near A in time, if it is left alone, and of what
// a tile asks for it loses: 0.92 to 0.99 of the time without (measured on a Granite Rapids, 16 to 264 columns of C).
template <typename T>
bool looks_ahead(kernel_set<T> const& kernels) {
  return kernels.asks_below && kernels.processor() == microarchitecture::intel;
}
template <typename T>
bool asks_for_columns(kernel_set<T> const& kernels) {
  return kernels.asks_below && !follows_columns(kernels) && !looks_ahead(kernels);
}
// There, up to so many tiles of columns of C read A in place, in blocks of few rows: up to few_column_tiles, where its
// columns begin within lines, and from so many bytes on. Then blocks are shallow, and tiles ask: 0.8 to 0.97 of the
// time with the next block asked for instead, where caches have A, and 1.1 to 1.2 times as long where they do not,
// which is the way of memory_bytes and more (8 to 32 columns of C). Where all columns of A begin in one set of the
// first-level cache, blocks are shallower yet and of more rows: 0.5 to 1.05 times as long, 8 to 64 columns of C.
// (Measured on a Granite Rapids.)
constexpr std::int64_t looked_tiles = 16, looked_row_tiles = 3, looked_bytes = 1 << 20;
constexpr std::int64_t one_set = 4 << 10, one_set_depth = 64, one_set_tiles = 10;
// More tiles read what the first of them leaves packed, in blocks of so many bytes. Measured on a Granite Rapids: of an
// A of 1 MB and more, 48 to 300 columns of C take 0.78 to 0.96 of the time in place, and 0.84 to 0.98 of that packed
// before; of a smaller one, from 48 columns on where its own begin within lines and from 136 where they do not, 0.89 to
// 1; 450 columns of C in double and 600 in single 0.99 to 1.1.
constexpr std::int64_t copied_depth = most_k_block, most_copied_tiles = 10;
// From so many bytes on, by the tiles of columns of C, a processor that is left to follow the columns needs shallow
// blocks of A, and the next one asked for. Measured on a Zen 5 (A of 1 to 12 MB, 20 to 310 columns of C): 1.05 to 1.7
// times as fast where the operands come from memory; where caches have them, 0.95 to 1.1 times, but for 20 and 24
// columns in single precision, 0.85 and 0.94.
constexpr std::int64_t followed_depth = 192;
constexpr std::int64_t followed_bytes(std::int64_t column_tiles) {
  return column_tiles <= 2 ? 8 << 20 : column_tiles <= few_column_tiles ? 2 << 20 : 1 << 20;
}
// Where caches have such an A, asking costs more than it gains: it is asked for only if its first tiles, which fetch a
// block, take so many times as long as those beside them: from caches 1 to 1.5 times, from memory 3 to 5 times (Zen 5;
// 1.75 tells a little less well on a Zen 3). Tiles that ask for what they read take less: 2.5 missed half of the blocks
// that came from memory on a Zen 4, where 139 to 1000 k-steps of 50 to 134 columns in single precision are up to 1.3
// times as fast for 1.5, and lose nothing from caches. Measured from caches, 1.02 to 1.14 times as fast for it in 17 to
// 32 columns on a Zen 5 and 1 to 1.04 times on a Zen 4, 0.98 to 1.04 times in 37 to 190, and from memory 0.96 to 1.03
// times; on a Zen 3, in 9 to 48 columns, 0.96 to 1.3 times and 0.97 to 1.04. Of a larger A third-level caches have a
// part, and one block does not tell.
constexpr double far_slowness = 2.5, asked_far_slowness = 1.5;
// Of less than two whole tiles of columns (measured on a Zen 4: 1.03 to 1.14 times as fast from caches in single
// precision, 0.95 to 1 times from memory; from 1 MB in memory 0.85 times).
constexpr std::int64_t least_told_bytes = 2 << 20;
constexpr std::int64_t most_told_bytes(std::int64_t column_tiles) {
  return column_tiles <= few_column_tiles ? 12 << 20 : 8 << 20;
}
// Their micro-kernel also has little to do at the end of a tile, which makes a B in place pay beside more tiles of
// rows. Measured on a Zen 4: 1.01 to 1.05 times as fast as packed for 128 to 384 rows by 1024 columns; 384 rows by 4096
// columns, and 512 to 1024 squares, are 0.95 to 1. On a Zen 5, beside blocks of A of half of the second-level cache,
// 200 to 384 rows by 250 to 4096 columns in double are 0.99 to 1.07 times as fast, from memory 1.06 to 1.09 times, and
// 400 to 768 rows in single precision 0.98 to 1.02 times.
constexpr std::int64_t asked_few_row_tiles = 8, followed_few_row_tiles = 16, followed_near_bytes = 512 << 10;

// Of few k-steps the operands stay so near that B is in place in more tiles, and A too if its columns begin with cache
// lines. Measured on a Zen 4 (16 to 48 k-steps, 500 to 1200 rows by 333 to 640 columns): 0.99 to 1.04 times as fast as
// packed; in 2400 rows or columns 0.83 to 1.04.
constexpr std::int64_t shallow_depth = 48, shallow_rows = 1200, shallow_column_tiles = 80;

// Columns of B in place that are longer the hardware follows, and for fewer k-steps asking costs what it gains.
// Measured on a Zen 4: 1.05 to 1.9 times as fast where B comes from memory, 1.05 to 1.25 from the third-level cache,
// and up to 1.5 % slower in small products where it is nearer. Asked for into the second level only it gains less, and
// the small products lose 3 %.
constexpr std::int64_t followed_column = 3 << 10, least_asked_steps = 64;  // bytes; k-steps

// What is read again for every tile should stay in the second-level cache: two of the blocks of A that are packed there
// (Zen 3, columns of 512 bytes: twice as much takes up to 18 % longer).
constexpr std::int64_t most_near_bytes = 1 << 20;
template <typename T>
std::int64_t near_bytes(kernel_set<T> const& kernels, std::int64_t m) {
  blocking const b = kernels.blocks();
  std::int64_t const block = static_cast<std::int64_t>(sizeof(T)) * b.mc * b.kc;  // of a packed A
  bool const many_rows = m > asked_few_row_tiles * b.mr;
  if (many_rows && looks_ahead(kernels)) return std::min(block, most_near_bytes);
  return std::min(2 * block, many_rows && follows_columns(kernels) ? followed_near_bytes : most_near_bytes);
}

// Each tile of columns of a B in place begins with lines that nothing has asked for; so a micro-kernel that has few
// rows beside it takes longer columns. Measured on a Zen 4 (16 to 96 rows, 200 to 1600 columns of 600 to 4000 steps): 1
// to 1.06 times as fast as in blocks of 512 and 1024, where another thread shares the core up to 1.09 times.
template <typename T>
std::int64_t long_depth(kernel_set<T> const& kernels, std::int64_t m) {
  blocking const b = kernels.blocks();
  auto const elements = static_cast<std::int64_t>(few_rows_part * b.mc * b.kc);
  return elements / round_up(std::max<std::int64_t>(m, 1), b.mr) / 16 * 16;
}

template <typename T>
std::int64_t deepest(kernel_set<T> const& kernels, std::int64_t m) {
  return asks_for_columns(kernels) ? std::max(most_thin_k_block, long_depth(kernels, m)) : most_thin_k_block;
}

// Such k-steps of m rows, and of so many columns, as stay near.
template <typename T>
std::int64_t near_depth(kernel_set<T> const& kernels, std::int64_t m, std::int64_t columns) {
  std::int64_t const step_bytes = std::max<std::int64_t>(m + columns, 1) * static_cast<std::int64_t>(sizeof(T));
  return std::clamp<std::int64_t>((near_bytes(kernels, m) / step_bytes + 8) / 16 * 16, 16, deepest(kernels, m));
}

// Where to columns of an A in place, so many bytes apart, are asked for. Into the first-level cache, half as early as
// into the second one, A of 1 to 8 MB beside 60 to 250 columns of C is 0.99 to 1.03 times as fast on a core of its own,
// and in double 1.02 to 1.08 times where another thread shares the core, whose queues then hide less; from 16 MB on,
// and in few sets, 0.94 to 1.01 times (measured on a Zen 4).
asked_into level_of_a(std::int64_t apart, std::int64_t a_bytes) {
  std::int64_t const beyond = apart % few_sets;
  bool const in_few_sets = std::min(beyond, few_sets - beyond) < cache_line;
  return in_few_sets || a_bytes >= far_bytes ? asked_into::second_level : asked_into::first_level;
}

template <typename T>
std::int64_t bytes_of_a(product_call<T> const& call) {
  return call.m * call.k * static_cast<std::int64_t>(sizeof(T));
}

struct rows_and_steps {
  std::int64_t depth, rows;
  bool streamed = false;  // the next block is asked for meanwhile
};

// Of an A in place whose columns the micro-kernel asks for.
template <typename T>
rows_and_steps asked_block(kernel_set<T> const& kernels, product_call<T> const& call, bool b_in_place) {
  blocking const b = kernels.blocks();
  std::int64_t const a_bytes = bytes_of_a(call);
  bool const few = call.n <= few_column_tiles * b.nr;
  bool const next = a_bytes >= asked_next_bytes && (!b_in_place || call.m >= call.n);
  if (b_in_place && !next) return {std::max(asked_depth, long_depth(kernels, call.m)), call.m};
  std::int64_t const most_tiles = few ? asked_row_tiles : asked_least_tiles;
  std::int64_t const rows = std::clamp(call.m / (asked_parts * b.mr), asked_least_tiles, most_tiles) * b.mr;
  return {few && a_bytes >= memory_bytes ? asked_memory_depth : asked_depth, rows, next && rows < call.m};
}

template <typename T>
bool is_told_by_time(kernel_set<T> const& kernels, product_call<T> const& call) {
  std::int64_t const tile = kernels.blocks().nr, a_bytes = bytes_of_a(call);
  if (looks_ahead(kernels)) return call.n >= 2 * tile && a_bytes >= asked_next_bytes && a_bytes < looked_bytes;
  return kernels.first_tile(static_cast<int>(call.n)) < call.n && (call.n >= 2 * tile || a_bytes >= least_told_bytes) &&
         a_bytes <= most_told_bytes((call.n + tile - 1) / tile);
}

// Up to so many tiles of columns an m × k A that the processor finds in time is in place, and beside more copied.
template <typename T>
std::int64_t looked_at(std::int64_t m, std::int64_t k, std::int64_t apart) {
  bool const large = m * k * static_cast<std::int64_t>(sizeof(T)) >= looked_bytes;
  return large || apart % cache_line != 0 ? few_column_tiles : looked_tiles;
}
template <typename T>
bool is_copied(kernel_set<T> const& kernels, std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t apart) {
  constexpr auto element = static_cast<std::int64_t>(sizeof(T));
  std::int64_t const tile = kernels.blocks().nr;
  if (looks_ahead(kernels)) return n > looked_at<T>(m, k, apart) * tile && n <= most_columns_beside_copy;
  return !kernels.asks_below && n > near_tiles * tile && n * element <= most_copied_row && m >= least_copied_rows &&
         m * k * element > small_a_bytes && apart % few_sets != 0;
}

// Of an A that the processor finds in time.
template <typename T>
rows_and_steps looked_block(kernel_set<T> const& kernels, product_call<T> const& call, bool copies) {
  constexpr auto element = static_cast<std::int64_t>(sizeof(T));
  blocking const b = kernels.blocks();
  bool const large = bytes_of_a(call) >= looked_bytes;
  auto const in_blocks = [&](std::int64_t depth, std::int64_t tiles, bool next) {
    return rows_and_steps{depth, tiles * b.mr, next && tiles * b.mr < call.m};
  };
  if (copies) {
    std::int64_t const most = copied_bytes / (element * std::min(call.k, copied_depth));
    return in_blocks(copied_depth, std::min(most / b.mr, most_copied_tiles), large || is_told_by_time(kernels, call));
  }
  if (large && call.a_cs * element % one_set == 0) return in_blocks(one_set_depth, one_set_tiles, true);
  if (large && bytes_of_a(call) >= memory_bytes) return in_blocks(asked_memory_depth, asked_row_tiles, true);
  if (large) return in_blocks(asked_memory_depth, looked_row_tiles, false);
  if (call.n <= b.nr) return {asked_depth, call.m};
  bool const few = call.n <= few_column_tiles * b.nr;
  return in_blocks(asked_depth, few ? asked_row_tiles : asked_least_tiles, is_told_by_time(kernels, call));
}

template <typename T>
rows_and_steps block_of(kernel_set<T> const& kernels, product_call<T> const& call, thin_sides thin, bool copies) {
  constexpr auto element = static_cast<std::int64_t>(sizeof(T));
  blocking const b = kernels.blocks();
  if (thin.b && call.b_rs != 1 && call.n * element >= long_row) return {rows_at_once, call.m};
  std::int64_t const a_bytes = bytes_of_a(call);
  std::int64_t const column_tiles = (call.n + b.nr - 1) / b.nr;
  if (thin.a && follows_columns(kernels)) {
    std::int64_t const rows = asked_row_tiles * b.mr;
    if (a_bytes >= followed_bytes(column_tiles)) return {followed_depth, rows, true};
    return {asked_depth, thin.b && column_tiles == 1 ? call.m : rows};
  }
  if (thin.a && looks_ahead(kernels)) return looked_block(kernels, call, copies);
  if (thin.a && kernels.asks_below) return asked_block(kernels, call, thin.b);
  if (copies) return {copied_depth, asked_row_tiles * b.mr, true};
  bool const lines_shared = b.mr * element % cache_line != 0;
  if (thin.a && !thin.b && lines_shared && column_tiles == 1 && a_bytes >= far_bytes) return {few_columns, call.m};
  // A long A is thus read in few streams.
  return {near_depth(kernels, call.m, thin.a ? call.n : 0), call.m};
}

// Up to so many tiles of columns meet an m × k A in place. apart: bytes between its columns.
template <typename T>
std::int64_t tiles_in_place(kernel_set<T> const& kernels, std::int64_t m, std::int64_t k, std::int64_t apart,
                            bool small) {
  if (looks_ahead(kernels)) return looked_at<T>(m, k, apart);
  bool const lines_aligned = apart % cache_line == 0;
  if (kernels.asks_below) {
    if (small) return small_column_tiles;
    return !lines_aligned ? asked_unaligned_tiles : apart % same_sets == 0 ? asked_same_sets_tiles : asked_tiles;
  }
  // Columns that share cache sets are fetched again for each tile: in place is 1.1 to 7 times as slow as packed, for
  // any shape but a few of one column tile and few k-steps (measured on a Zen 3).
  if (apart % same_sets == 0) return 0;
  if (apart % few_sets == 0) return near_tiles;
  if (small && m <= kernels.blocks().mr) return row_tile_tiles;
  bool const small_a = m * k * static_cast<std::int64_t>(sizeof(T)) <= small_a_bytes;
  return small_a ? std::clamp(small_a_steps / std::max<std::int64_t>(k, 1), near_tiles, most_small_a_tiles)
                 : near_tiles;
}

template <typename T>
bool is_beside_rows(kernel_set<T> const& kernels, std::int64_t m, std::int64_t n, std::int64_t k) {
  constexpr auto element = static_cast<std::int64_t>(sizeof(T));
  blocking const b = kernels.blocks();
  if (n * k * element > largest_row_major_b) return false;
  if (m <= b.mr) return true;
  return !kernels.asks_below && b.mc * b.kc * element >= least_far_block && m <= most_tiles_beside_rows * b.mr &&
         (m % b.mr == 0 || n * element < long_row);
}

// The operands that a shape lets be read in place.
template <typename T>
thin_sides thin_shape(kernel_set<T> const& kernels, std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t apart,
                      bool row_major_b) {
  if (kernels.unpacked_rows == 0) return {};
  blocking const b = kernels.blocks();
  bool const small = m <= small_row_tiles * b.mr && n <= small_column_tiles * b.nr && !row_major_b &&
                     (kernels.asks_below || k <= small_depth);
  bool const shallow =
      kernels.asks_below && k <= shallow_depth && m <= shallow_rows && n <= shallow_column_tiles * b.nr && !row_major_b;
  if (shallow && !small)
    return {.a = !looks_ahead(kernels) && apart % cache_line == 0 && apart % same_sets != 0, .b = true};
  std::int64_t const most_tiles = follows_columns(kernels) ? followed_few_row_tiles
                                  : kernels.asks_below     ? asked_few_row_tiles
                                                           : few_row_tiles;
  std::int64_t const most_rows =
      looks_ahead(kernels) ? thin_side : std::min<std::int64_t>(most_tiles * b.mr, thin_side);
  bool const few_rows = row_major_b ? is_beside_rows(kernels, m, n, k) : m <= most_rows;
  return {.a = n <= tiles_in_place(kernels, m, k, apart, small) * b.nr || is_copied(kernels, m, n, k, apart),
          .b = small || few_rows};
}

}  // namespace

template <typename T>
thin_sides find_thin_sides(kernel_set<T> const& kernels, product_call<T> const& call) {
  auto const find = [&](product_call<T> const& x) -> thin_sides {
    auto const apart = x.a_cs * static_cast<std::int64_t>(sizeof(T));
    auto const [a, b, _] = thin_shape(kernels, x.m, x.n, x.k, apart, x.b_rs != 1);
    return {.a = a && x.a.size() == 1 && x.a_rs == 1, .b = b && x.b.size() == 1 && (x.b_rs == 1 || x.b_cs == 1)};
  };
  thin_sides const as_is = find(call);
  // Few rows and a row-major B are few columns and a column-major A.
  if (!as_is.a && kernels.asks_below && call.b_rs != 1)
    if (thin_sides const other = find(transposed(call)); other.a) return {.a = true, .b = other.b, .transposed = true};
  return as_is;
}

template <typename T>
std::size_t thin_scratch(kernel_set<T> const& kernels, std::int64_t m, std::int64_t n, std::int64_t k) {
  blocking const b = kernels.blocks();
  // One operand is in place: beside A all of B, what is left of A after whole tiles, and what is copied; beside B all
  // of A, which may be a sum, of the few k-steps that stay near.
  std::int64_t const all = round_up(k, least_k_block);
  auto const beside_a = [&](std::int64_t rows, std::int64_t cols) {
    std::int64_t const tiles = (cols + b.nr - 1) / b.nr;
    std::int64_t elements = 0;
    bool const looks = looks_ahead(kernels);
    bool const copies = looks ? tiles > few_column_tiles : is_copied(kernels, rows, cols, k, cache_line);
    if (!copies || (looks && tiles <= looked_tiles))
      elements = b.mr * std::min(all, deepest(kernels, rows)) + tiles * b.nr * std::min(all, most_thin_k_block);
    if (copies) {
      std::int64_t const depth = std::min(all, copied_depth);
      std::int64_t const copied = std::min<std::int64_t>(copied_bytes / sizeof(T), round_up(rows, b.mr) * depth);
      elements = std::max(elements, (b.mr + tiles * b.nr) * depth + copied + thin_slack<T>);
    }
    return elements;
  };
  // No A has more in place than one whose columns begin with lines; B comes in either order.
  auto const shape = [&](std::int64_t rows, std::int64_t cols) {
    thin_sides const by_columns = thin_shape(kernels, rows, cols, k, cache_line, false);
    thin_sides const by_rows = thin_shape(kernels, rows, cols, k, cache_line, true);
    return thin_sides{.a = by_columns.a || by_rows.a, .b = by_columns.b || by_rows.b};
  };
  thin_sides const as_is = shape(m, n);
  std::int64_t elements = as_is.a ? beside_a(m, n) : 0;
  if (as_is.b) elements = std::max(elements, round_up(m, b.mr) * std::min(all, near_depth(kernels, m, 0)));
  if (kernels.asks_below && shape(n, m).a) elements = std::max(elements, beside_a(n, m));
  return elements == 0 ? 0 : static_cast<std::size_t>(elements + 2 * thin_slack<T>) * sizeof(T);
}

template <typename T>
thin_blocks choose_thin_blocks(kernel_set<T> const& kernels, product_call<T> const& call, thin_sides thin) {
  constexpr auto element = static_cast<std::int64_t>(sizeof(T));
  bool const copies = thin.a && is_copied(kernels, call.m, call.n, call.k, call.a_cs * element);
  auto const [most, rows, streamed] = block_of(kernels, call, thin, copies);
  std::int64_t const depth = call.k <= most ? call.k : balanced(call.k, most, least_k_block);
  std::int64_t const a_bytes = bytes_of_a(call);
  bool const by_time = streamed && kernels.asks_below && is_told_by_time(kernels, call);
  bool const columns_of_b = thin.b && call.b_rs == 1;
  bool const asks = asks_for_columns(kernels);
  // A near A is asked for all the same beside a B that is packed or by rows.
  bool const near = (kernels.asks_below && !asks) || (columns_of_b && a_bytes <= near_bytes(kernels, call.m));
  bool const looked_far = thin.a && looks_ahead(kernels) && !streamed && a_bytes >= looked_bytes;
  bool const a_beside = asks && thin.a && columns_of_b && !streamed && a_bytes >= asked_next_bytes;
  bool const b_found = thin.a && looks_ahead(kernels);  // asked for, it takes 1.02 to 1.08 times as long
  bool const b_ahead =
      columns_of_b && !streamed && !b_found && depth >= least_asked_steps && depth * element <= followed_column;
  return {.depth = depth,
          .rows = rows,
          .next = by_time    ? next_block::by_time
                  : streamed ? next_block::asked
                             : next_block::not_asked,
          .far_slowness = asks ? asked_far_slowness : far_slowness,
          .a_ahead = looked_far ? asked_into::first_level
                     : near     ? asked_into::nowhere
                                : level_of_a(call.a_cs * element, a_bytes),
          .fetches = asks && (by_time || a_beside),
          .b_ahead = b_ahead,
          .a_beside = a_beside,
          .copies = copies};
}

template <typename T>
thin_layout lay_out(kernel_set<T> const& kernels, product_call<T> const& call, thin_sides thin,
                    thin_blocks const& size) {
  blocking const b = kernels.blocks();
  thin_layout l{};
  l.packed_rows = !thin.a ? call.m : call.m % kernels.unpacked_rows == 0 ? 0 : call.m % b.mr;
  l.copied_a = round_up(l.packed_rows, b.mr) * size.depth + thin_slack<T>;
  std::int64_t const copied = std::min(size.rows, call.m - l.packed_rows);
  l.packed_b = l.copied_a + (size.copies ? round_up(copied, b.mr) * size.depth + thin_slack<T> : 0);
  l.total = l.packed_b + (thin.b ? 0 : round_up(call.n, b.nr) * size.depth + thin_slack<T>);
  return l;
}

template thin_sides find_thin_sides(kernel_set<float> const&, product_call<float> const&);
template thin_sides find_thin_sides(kernel_set<double> const&, product_call<double> const&);
template thin_blocks choose_thin_blocks(kernel_set<float> const&, product_call<float> const&, thin_sides);
template thin_blocks choose_thin_blocks(kernel_set<double> const&, product_call<double> const&, thin_sides);
template thin_layout lay_out(kernel_set<float> const&, product_call<float> const&, thin_sides, thin_blocks const&);
template thin_layout lay_out(kernel_set<double> const&, product_call<double> const&, thin_sides, thin_blocks const&);
template std::size_t thin_scratch(kernel_set<float> const&, std::int64_t, std::int64_t, std::int64_t);
template std::size_t thin_scratch(kernel_set<double> const&, std::int64_t, std::int64_t, std::int64_t);

}  // namespace heptad::cpu
