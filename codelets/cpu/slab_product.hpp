// SPDX-License-Identifier: BSD-3-Clause
// Products of few columns whose A is read once, where it lies, in slabs that stay in the first-level cache while they
// meet all columns: the way of kernel sets that ask for the columns of A only a few k-steps ahead.
#pragma once

#include <cstddef>

#include "codelets/cpu/product.hpp"

namespace heptad::cpu {

template <typename T>
bool is_for_slabs(kernel_set<T> const& kernels, product_call<T> const& call);

/// Bytes that slab_product() needs at most for a product of this shape, in any layout.
template <typename T>
std::size_t slab_scratch(kernel_set<T> const& kernels, std::int64_t m, std::int64_t n, std::int64_t k);

/// As product(), for k > 0, where is_for_slabs().
template <typename T>
void slab_product(kernel_set<T> const& kernels, product_call<T> const& call, std::byte* scratch);

}  // namespace heptad::cpu
