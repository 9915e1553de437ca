// SPDX-License-Identifier: BSD-3-Clause
// From what a search holds as bits or real numbers to an algorithm over the rationals.
#pragma once

#include <functional>

#include "src/algorithm/algorithm.hpp"
#include "src/search/scheme.hpp"

namespace heptad::search {

/// U, V and W from coefficient(factor, block, term), with plain additions programs, without name and source. Not
/// verified.
algorithm assemble(shape const& what, int rank, std::function<rational(int, int, int)> const& coefficient);

/// U, V or W.
coefficient_matrix const& matrix_of(algorithm const& x, int factor);

/// Whether the Brent equations hold.
bool verifies(algorithm const& x);

}  // namespace heptad::search
