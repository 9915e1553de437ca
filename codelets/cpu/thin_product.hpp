// SPDX-License-Identifier: BSD-3-Clause
// Products with a side so thin that the operand along it would be packed for a few tiles only: that operand is read
// where it lies.
#pragma once

#include <cstddef>

#include "codelets/cpu/thin_blocks.hpp"

namespace heptad::cpu {

/// As product(), for k > 0 and at least one thin side.
template <typename T>
void thin_product(kernel_set<T> const& kernels, product_call<T> const& call, thin_sides thin, std::byte* scratch);

}  // namespace heptad::cpu
