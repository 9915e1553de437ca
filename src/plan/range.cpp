// SPDX-License-Identifier: BSD-3-Clause
#include "src/plan/range.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "src/plan/known_algorithms.hpp"

namespace heptad {
namespace {

struct exponents {
  double overflow;   // all finite numbers are below 2^overflow
  double no_change;  // what is smaller than 2^no_change does not move the largest finite number
  double normal;     // 2^normal is the least normal number
};

template <typename T>
constexpr exponents exponents_of() {
  using limits = std::numeric_limits<T>;
  return {limits::max_exponent, limits::max_exponent - limits::digits - 1.0, limits::min_exponent - 1.0};
}

exponents exponents_of(element_type type) {
  return type == element_type::f64 ? exponents_of<double>() : exponents_of<float>();
}

constexpr double room = 1;  // for the roundings

constexpr char const* on_the_way = "partial results on the way from beta C to C could overflow";

/// Without the flag of a division by zero, which NumPy warns of.
double exponent_of(double x) { return x == 0 ? -HUGE_VAL : std::log2(x); }

/// log2 of the least and of the largest product of coefficients that alpha may meet.
struct factor_range {
  double least = 0, largest = 0;
};

factor_range factors_of_alpha(plan const& p) {
  factor_range result;
  for (plan_level const& l : p.levels) {
    level_accuracy const& level = know(l.coefficients).accuracy[l.kind];
    result.least += std::log2(level.least_factor);
    result.largest += std::log2(level.largest_factor);
  }
  return result;
}

}  // namespace

std::string range_objection(plan const& p, double alpha, double beta, double largest_A, double largest_B,
                            operand_names const& names) {
  if (p.levels.empty()) return {};
  if (!std::isfinite(alpha)) return "alpha is NaN or infinite";
  for (auto const& [name, largest] : {std::pair{names.A, largest_A}, {names.B, largest_B}})
    if (!std::isfinite(largest)) return fmt::format("{} holds {}", name, std::isnan(largest) ? "NaN" : "infinities");

  exponents const e = exponents_of(p.type);
  double const a = exponent_of(largest_A), b = exponent_of(largest_B), factor = exponent_of(std::abs(alpha));
  if (a + std::log2(p.largest_A) > e.overflow - room)
    return fmt::format("sums of blocks of {} could overflow", names.A);
  if (b + std::log2(p.largest_B) > e.overflow - room)
    return fmt::format("sums of blocks of {} could overflow", names.B);
  if (auto const [least, largest] = factors_of_alpha(p); least < 0 || largest > 0) {
    if (largest + std::max(factor, 0.0) > e.overflow - room) return "alpha times coefficients could overflow";
    if (least + std::min(factor, 0.0) < e.normal + room) return "alpha times coefficients could underflow";
  }
  double const products = a + b + std::log2(p.largest_product);
  if (products + std::max(factor, 0.0) > e.overflow - room) return "products of sums of A and B could overflow";
  if (beta != 0 && products + factor > e.no_change - room) return on_the_way;
  if (largest_A == 0 || largest_B == 0) return {};
  if (std::min({a, b, a + b, a + b + factor}) < e.normal + room) return "products of A and B could underflow";
  return {};
}

std::string scaling_objection(element_type type, double alpha, double beta, double largest_A, double largest_B,
                              double growth) {
  exponents const e = exponents_of(type);
  double const elements =
      exponent_of(largest_A) + exponent_of(largest_B) + exponent_of(std::abs(alpha)) + std::log2(growth);
  if (elements > e.overflow - room) return "elements of C could overflow when they are scaled back";
  if (beta != 0 && elements > e.no_change - room) return on_the_way;
  return {};
}

}  // namespace heptad
