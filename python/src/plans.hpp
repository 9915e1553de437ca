// SPDX-License-Identifier: BSD-3-Clause
// A plan is for the product as it is run, with a column-major C: an out with contiguous rows is computed as
// outᵀ = bᵀ aᵀ. Python's plans have the shape and the layouts of the caller's a, b and out instead.
#pragma once

#include <heptad/heptad.hpp>

#include "python/src/arrays.hpp"

namespace heptad::python {

/// From C = A B to Cᵀ = Bᵀ Aᵀ, and back.
void transpose(plan& how);

/// A plan of Python's as the library takes it for out = a b. Throws ValueError when it is for another product; vectors
/// are of either order.
plan plan_as_run(plan const& how, operand const& a, operand const& b, double beta, operand const& out);

}  // namespace heptad::python
