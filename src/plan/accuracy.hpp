// SPDX-License-Identifier: BSD-3-Clause
// What one level costs in accuracy and in range, counted once per algorithm and kind so that the planner can weigh many
// plans. The method is that of Ballard, Benson, Druinsky, Lipshitz & Schwartz (2016): count the roundings on the
// longest way from an element of A and B to C, by the additions programs that really run, and sum the magnitudes of all
// ways.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include <heptad/heptad.hpp>

#include "src/algorithm/algorithm.hpp"

namespace heptad {

struct level_accuracy {
  level_kind kind = level_kind::fused;
  int m = 1, k = 1, n = 1;
  double amplification = 1;         // e: the sum over all ways into one block of C, in units of |A|max |B|max k/k̃
  double sums = 0;                  // roundings on the way through the sums of A and B (not fused)
  double update = 0;                // through the pass that updates C (not fused)
  double direct = 1;                // products that are added to one block of C by themselves, at most
  double passes = 0;                // 1 when a pass adds to C as well
  double terms_A = 1, terms_B = 1;  // blocks in one sum (fused)
  bool inexact = false;             // some coefficient is not a power of two, so that multiplying by it rounds
  double largest_A = 1, largest_B = 1, largest_C = 1;  // magnitudes that may arise, in those of the operands
  double least_factor = 1, largest_factor = 1;         // of α: magnitudes of the coefficients that it may meet
  double growth = 1;                                   // expected: of the errors of the products
};

level_accuracy accuracy_of(algorithm const& x, level_kind kind);

/// The same for every kind.
struct algorithm_accuracy {
  std::array<level_accuracy, 3> of_kind;
  double amplification = 1, growth = 1;  // the largest

  [[nodiscard]] level_accuracy const& operator[](level_kind kind) const noexcept {
    return of_kind[static_cast<std::size_t>(kind)];
  }
};
algorithm_accuracy accuracy_of(algorithm const& x);

/// The inner dimension, the part of the problem that the levels divide, and how products meet C.
struct divided_problem {
  double k = 0, core_m = 0, core_n = 0, core_k = 0;
  bool product_buffer = true;  // see plan
};

/// ‖C − Ĉ‖max ≤ u (product · |α| ‖A‖max ‖B‖max + of_C · |β| ‖C‖max) for levels, outermost first; not only to first
/// order in u. Infinite where a way has more than 1/u roundings.
struct error_bounds {
  double product = 0, of_C = 0;
};
error_bounds error_bound(std::span<level_accuracy const* const> levels, divided_problem const& x, double u);
/// Of the largest error over that of the classical product, for entries of random sign: the levels' factors, and once
/// what the roundings of the sums themselves add. The medians of measured growths of 16 algorithms at one to three
/// levels are 0.5 to 1.2 times as large (docs/accuracy.md).
inline constexpr double growth_of_sums = 1.2;
double expected_growth(std::span<level_accuracy const* const> levels);

/// Of the classical product, in units of u ‖A‖max ‖B‖max: what the largest of the m n errors exceeds once in a million
/// products where the entries and the roundings are independent and of mean zero (after Higham & Mary 2020). Every
/// product rounds, and the sum of i of them, whose mean square is at most i (‖A‖max ‖B‖max)²: so the mean square of an
/// error is at most u² (k + k (k + 1) / 2), and the largest of many is taken as that of normal ones.
double likely_classical_error(double m, double n, double k);

/// How much larger than ‖A‖max and ‖B‖max the sums of their blocks may be, and than ‖A‖max ‖B‖max what is formed from
/// their products.
struct magnitude_growth {
  double A = 1, B = 1, products = 1;
};
magnitude_growth growth_of_magnitudes(std::span<level_accuracy const* const> levels, double k);

}  // namespace heptad
