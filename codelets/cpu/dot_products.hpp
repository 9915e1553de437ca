// SPDX-License-Identifier: BSD-3-Clause
// Products of few rows (or columns) whose other operand is contiguous along the depth: dot products, which read that
// operand once, where it lies.
#pragma once

#include <cstddef>

#include "codelets/cpu/product.hpp"

namespace heptad::cpu {

template <typename T>
bool is_for_dots(kernel_set<T> const& kernels, product_call<T> const& call);

template <typename T>
std::size_t dots_scratch(kernel_set<T> const& kernels);

/// As product(), for k > 0, where is_for_dots().
template <typename T>
void dot_products(kernel_set<T> const& kernels, product_call<T> const& call, std::byte* scratch);

}  // namespace heptad::cpu
