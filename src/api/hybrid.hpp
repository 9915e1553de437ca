// SPDX-License-Identifier: BSD-3-Clause
// One shared product with the devices of a backend, which tests replace.
#pragma once

#include <heptad/hybrid.hpp>

#include "schedulers/cuda/backend.hpp"
#include "src/api/arguments.hpp"

namespace heptad::hybrid {

/// As gemm() in <heptad/hybrid.hpp>. `find` gives the backend, or throws error that says why there is none; it is asked
/// only when the wishes have room for devices.
template <typename T>
report multiply(context& workers, device_backend& (*find)(), operands<T> const& x, options const& wishes);

/// As make_plan() there, for operands that are pinned or not.
plan make_plan(context& workers, device_backend& (*find)(), element_type type, problem const& shape, bool pinned,
               options const& wishes);

}  // namespace heptad::hybrid
