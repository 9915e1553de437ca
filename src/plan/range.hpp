// SPDX-License-Identifier: BSD-3-Clause
// When the levels of a plan may not run, because a fast algorithm would spread NaN or infinities over more elements of
// C than the classical one, overflow where it does not, or lose digits to underflow beyond the bound.
#pragma once

#include <string>

#include <heptad/heptad.hpp>

namespace heptad {

/// What the caller calls them.
struct operand_names {
  char const *A = "A", *B = "B";
};

/// The words against running the plan's levels for C := alpha A B + beta C with these largest magnitudes of A and B
/// (NaN or infinite where an element is); empty when nothing speaks against it. Sufficient conditions: with them every
/// sum, product and partial result is finite, and what underflows stays within the bound. C itself need not be looked
/// at: a block of C is only scaled and added to, by so little that no partial sum overflows unless the result does.
std::string range_objection(plan const& p, double alpha, double beta, double largest_A, double largest_B,
                            operand_names const& names = {});

/// The words against scaling rows of A and columns of B, and their product back: its elements, as computed, are then at
/// most `growth` |alpha| max |A| max |B| of the unscaled A and B. The factors are finite.
std::string scaling_objection(element_type type, double alpha, double beta, double largest_A, double largest_B,
                              double growth);

}  // namespace heptad
