// SPDX-License-Identifier: BSD-3-Clause
#include "codelets/cpu/dot_products.hpp"

#include <algorithm>

#include "codelets/cpu/terms.hpp"
#include "src/matrix/limits.hpp"

namespace heptad::cpu {
namespace {

// Of fewer k-steps the sums over the lanes of a vector weigh too much, for a few rows and for more.
constexpr std::int64_t shallow = 64, deep = 128;
// k-steps in a block: the rows of A stay near.
constexpr std::int64_t most_depth = 4032;
// With AVX2 more rows than two wait for B less than they compute: their block stays in the first-level cache with some
// columns. Measured on a Zen 4, 1000 k-steps: 1.1 to 1.15 times as fast as in one block in double, 1.0 in single.
constexpr std::int64_t waiting_rows = 2, some_columns = 4, near_bytes = 32 << 10;

template <typename T>
bool has_few_rows(kernel_set<T> const& kernels, product_call<T> const& call) {
  if (call.b.size() != 1 || call.b_rs != 1) return false;
  return call.k >= (call.m <= kernels.shallow_dot_rows ? shallow : deep) && call.m <= kernels.dot_rows;
}

template <typename T>
std::int64_t deepest(kernel_set<T> const& kernels, std::int64_t rows) {
  if (rows <= waiting_rows || kernels.asks_below) return most_depth;
  return near_bytes / static_cast<std::int64_t>(sizeof(T)) / (rows + some_columns) / least_k_block * least_k_block;
}

// Packed rows of so many k-steps are so many elements apart: not a power of two, so in cache sets of their own.
template <typename T>
std::int64_t apart(std::int64_t depth) {
  return depth + cache_line / static_cast<std::int64_t>(sizeof(T));
}

// The sum of the operands, few rows, contiguous along the depth.
template <typename T>
void pack_rows(product_call<T> const& call, std::int64_t first, std::int64_t depth, T* packed, std::int64_t next_row) {
  for (std::int64_t i = 0; i < call.m; ++i, packed += next_row) {
    std::fill_n(packed, depth, T(0));
    for (term<T> const& t : call.a) {
      T const* const row = t.data + i * call.a_rs + first * call.a_cs;
      auto const add = [&, w = t.coefficient](std::int64_t step) {
        for (std::int64_t p = 0; p < depth; ++p) packed[p] += w * row[p * step];
      };
      if (call.a_cs == 1) add(1);  // in vectors
      else add(call.a_cs);
    }
  }
}

}  // namespace

template <typename T>
bool is_for_dots(kernel_set<T> const& kernels, product_call<T> const& call) {
  return has_few_rows(kernels, call) || has_few_rows(kernels, transposed(call));
}

template <typename T>
std::size_t dots_scratch(kernel_set<T> const& kernels) {
  std::int64_t most = 0;
  for (std::int64_t rows = 1; rows <= kernels.dot_rows; ++rows)
    most = std::max(most, rows * apart<T>(deepest(kernels, rows)));
  return static_cast<std::size_t>(most) * sizeof(T);
}

template <typename T>
void dot_products(kernel_set<T> const& kernels, product_call<T> const& given, std::byte* scratch) {
  product_call<T> const call = has_few_rows(kernels, given) ? given : transposed(given);
  look_at(call.a, call.m, call.k, call.a_rs, call.a_cs, call.largest_a);
  look_at(call.b, call.k, call.n, call.b_rs, call.b_cs, call.largest_b);
  T* const packed = reinterpret_cast<T*>(scratch);
  destination<T> targets[most_terms];
  std::int64_t const kc = balanced(call.k, deepest(kernels, call.m), least_k_block);
  for (std::int64_t pc = 0; pc < call.k; pc += kc) {
    std::int64_t const depth = std::min(kc, call.k - pc);
    pack_rows(call, pc, depth, packed, apart<T>(kc));
    std::ranges::transform(call.c, targets, [&](destination<T> const& d) {
      return destination<T>{d.data, d.coefficient * call.b[0].coefficient, pc == 0 ? d.beta : T(1)};
    });
    kernels.dots({.rows = static_cast<int>(call.m),
                  .cols = call.n,
                  .depth = depth,
                  .a = packed,
                  .a_row = apart<T>(kc),
                  .b = call.b[0].data + pc,
                  .b_column = call.b_cs,
                  .destinations = targets,
                  .count = static_cast<int>(call.c.size()),
                  .rs = call.c_rs,
                  .cs = call.c_cs});
  }
}

#define HEPTAD_FOR(T)                                                      \
  template bool is_for_dots(kernel_set<T> const&, product_call<T> const&); \
  template std::size_t dots_scratch(kernel_set<T> const&);                 \
  template void dot_products(kernel_set<T> const&, product_call<T> const&, std::byte*);
HEPTAD_FOR(float)
HEPTAD_FOR(double)
#undef HEPTAD_FOR

}  // namespace heptad::cpu
