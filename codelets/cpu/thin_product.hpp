// SPDX-License-Identifier: BSD-3-Clause
// Products with a side so thin that the operand along it would be packed for a few tiles only: that operand is read
// where it lies.
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

template <typename T>
std::size_t thin_scratch(kernel_set<T> const& kernels, std::int64_t m, std::int64_t n, std::int64_t k);

/// As product(), for k > 0 and at least one thin side.
template <typename T>
void thin_product(kernel_set<T> const& kernels, product_call<T> const& call, thin_sides thin, std::byte* scratch);

}  // namespace heptad::cpu
