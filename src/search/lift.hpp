// SPDX-License-Identifier: BSD-3-Clause
// From GF(2) to the numbers. First signs: with coefficients ±1 where the scheme has a 1, the Brent equations modulo 4
// are linear over GF(2). Then Hensel lifting: a solution modulo 2^s is lifted to 2^(s+1) by one linear system, until
// small integers, or fractions with odd denominators, solve the equations exactly.
#pragma once

#include <optional>

#include "src/algorithm/algorithm.hpp"
#include "src/search/keep_going.hpp"
#include "src/search/scheme.hpp"

namespace heptad::search {

/// The scheme with signs; nothing where the system has no solution, or one that holds modulo 4 only, or
/// where it may not go on.
std::optional<ternary_scheme> lift_signs(binary_scheme const& x, keep_going const& may_go_on = to_the_end);

/// U, V and W over the rationals; nothing where the lifting fails, the numbers stay large, or it may not go on.
std::optional<algorithm> hensel_lift(binary_scheme const& x, keep_going const& may_go_on = to_the_end);

/// Where all coefficients are −1, 0 and 1.
std::optional<ternary_scheme> to_ternary(algorithm const& x);

/// With plain additions programs, without name and source.
algorithm to_algorithm(ternary_scheme const& x);

}  // namespace heptad::search
