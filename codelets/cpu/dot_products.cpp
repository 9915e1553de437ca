// SPDX-License-Identifier: BSD-3-Clause
#include "codelets/cpu/dot_products.hpp"

#include <algorithm>

#include "codelets/cpu/terms.hpp"

namespace heptad::cpu {
namespace {

constexpr std::int64_t shallow = 64;  // below this the sums over the lanes of a vector weigh too much
constexpr std::int64_t most_depth =
    4032;  // k-steps in a block: the rows of A stay near, and in cache sets of their own

template <typename T>
bool has_few_rows(kernel_set<T> const& kernels, product_call<T> const& call) {
  return call.m <= kernels.dot_rows && call.k >= shallow && call.b.size() == 1 && call.b_rs == 1;
}

// The sum of the operands, few rows, contiguous along the depth.
template <typename T>
void pack_rows(product_call<T> const& call, std::int64_t first, std::int64_t depth, T* packed) {
  for (std::int64_t i = 0; i < call.m; ++i)
    for (std::int64_t p = 0; p < depth; ++p) {
      T x = 0;
      for (term<T> const& t : call.a) x += t.coefficient * t.data[i * call.a_rs + (first + p) * call.a_cs];
      packed[i * most_depth + p] = x;
    }
}

}  // namespace

template <typename T>
bool is_for_dots(kernel_set<T> const& kernels, product_call<T> const& call) {
  return has_few_rows(kernels, call) || has_few_rows(kernels, transposed(call));
}

template <typename T>
std::size_t dots_scratch(kernel_set<T> const& kernels) {
  return static_cast<std::size_t>(kernels.dot_rows) * most_depth * sizeof(T);
}

template <typename T>
void dot_products(kernel_set<T> const& kernels, product_call<T> const& given, std::byte* scratch) {
  product_call<T> const call = has_few_rows(kernels, given) ? given : transposed(given);
  look_at(call.a, call.m, call.k, call.a_rs, call.a_cs, call.largest_a);
  look_at(call.b, call.k, call.n, call.b_rs, call.b_cs, call.largest_b);
  T* const packed = reinterpret_cast<T*>(scratch);
  destination<T> targets[most_terms];
  for (std::int64_t pc = 0; pc < call.k; pc += most_depth) {
    std::int64_t const depth = std::min(most_depth, call.k - pc);
    pack_rows(call, pc, depth, packed);
    std::ranges::transform(call.c, targets, [&](destination<T> const& d) {
      return destination<T>{d.data, d.coefficient * call.b[0].coefficient, pc == 0 ? d.beta : T(1)};
    });
    kernels.dots({.rows = static_cast<int>(call.m),
                  .cols = call.n,
                  .depth = depth,
                  .a = packed,
                  .a_row = most_depth,
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
