// SPDX-License-Identifier: BSD-3-Clause
// Which operands of a thin product are read where they lie, in which blocks, and what is asked for ahead. By measured
// bounds: all ways compute the same.
#pragma once

#include <cstddef>
#include <cstdint>

#include "codelets/cpu/product.hpp"

namespace heptad::cpu {

/// Which operands a product reads unpacked; none: it is not thin. transposed: those of Cᵀ = Bᵀ Aᵀ.
struct thin_sides {
  bool a = false, b = false, transposed = false;
};

template <typename T>
thin_sides find_thin_sides(kernel_set<T> const& kernels, product_call<T> const& call);

/// Is the block of A in place that comes next asked for while one is multiplied? by_time: if the first tiles tell that
/// they wait for theirs.
enum class next_block { not_asked, asked, by_time };

struct thin_blocks {
  std::int64_t depth, rows;  // k-steps at once, and of an A in place rows
  next_block next;
  double far_slowness;  // of tiles that wait for their block, in the time of those beside them
  asked_into a_ahead;   // of an A in place
  bool fetches;         // but the first tiles ask for it into the second level
  bool b_ahead;         // columns of a B in place are asked for before their tiles,
  bool a_beside;        // and after them the next k-steps of A
  bool copies;          // the first tiles of columns leave an A in place packed for those beside them
};

/// For a call that is not to be transposed.
template <typename T>
thin_blocks choose_thin_blocks(kernel_set<T> const& kernels, product_call<T> const& call, thin_sides thin);

/// Elements behind a packed panel: micro-kernels may read one k-step past it.
template <typename T>
inline constexpr std::int64_t thin_slack = 4096 / sizeof(T);

/// Where the pieces lie in the scratch, in elements.
struct thin_layout {
  std::int64_t packed_rows;         // of an A in place those that are no whole vector, with the others of their tile
  std::int64_t copied_a, packed_b;  // behind these rows, which come first
  std::int64_t total;
};

template <typename T>
thin_layout lay_out(kernel_set<T> const& kernels, product_call<T> const& call, thin_sides thin,
                    thin_blocks const& size);

/// Bytes that thin_product() needs at most for a product of this shape, in any layout.
template <typename T>
std::size_t thin_scratch(kernel_set<T> const& kernels, std::int64_t m, std::int64_t n, std::int64_t k);

}  // namespace heptad::cpu
