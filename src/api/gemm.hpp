// SPDX-License-Identifier: BSD-3-Clause
// One product from checked arguments to its report: what the C and the C++ interface share.
#pragma once

#include <heptad/heptad.hpp>

#include "src/api/arguments.hpp"

namespace heptad {

/// x has passed check_operands. Throws error, as gemm() in <heptad/heptad.hpp>.
template <typename T>
report multiply(context& workers, operands<T> const& x, options const& wishes);

}  // namespace heptad
