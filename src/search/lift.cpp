// SPDX-License-Identifier: BSD-3-Clause
#include "src/search/lift.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "src/search/assemble.hpp"
#include "src/search/linear_system.hpp"

namespace heptad::search {
namespace {

bool has(binary_scheme const& x, int factor, int term, int block) {
  return (x.factors[factor][term] >> block & 1) != 0;
}

/// Calls f(a, b, c) for every Brent equation; false where it may not go on.
template <typename F>
bool for_each_equation(shape const& s, keep_going const& may_go_on, F f) {
  for (int a = 0; a < s.blocks(0); ++a)
    for (int b = 0; b < s.blocks(1); ++b) {
      if (!may_go_on()) return false;
      for (int c = 0; c < s.blocks(2); ++c) f(a, b, c);
    }
  return true;
}

/// numbers[factor][term * blocks + block]
using numbers = std::array<std::vector<std::int64_t>, 3>;

numbers numbers_of(binary_scheme const& x) {
  numbers result;
  for (int f = 0; f < 3; ++f)
    for (int r = 0; r < x.rank(); ++r)
      for (int i = 0; i < x.shape.blocks(f); ++i) result[f].push_back(has(x, f, r, i) ? 1 : 0);
  return result;
}

/// numerator / denominator = value modulo 2^s, both at most `largest`, the denominator odd; by continued fractions.
std::optional<rational> small_fraction(std::int64_t value, std::int64_t modulus, std::int64_t largest) {
  std::int64_t r0 = modulus, r1 = (value % modulus + modulus) % modulus, t0 = 0, t1 = 1;
  while (r1 > largest) {
    std::int64_t const q = r0 / r1;
    r0 = std::exchange(r1, r0 - q * r1);
    t0 = std::exchange(t1, t0 - q * t1);
  }
  if (t1 == 0 || std::abs(t1) > largest || t1 % 2 == 0) return std::nullopt;
  return t1 < 0 ? rational(-r1, -t1) : rational(r1, t1);
}

/// Exact numbers for a solution modulo `modulus`, where all of them are small.
std::optional<algorithm> reconstruct(shape const& s, int rank, numbers const& value, std::int64_t modulus) {
  for (std::int64_t const largest : {1, 2, 4, 8, 16}) {
    if (2 * largest * largest >= modulus) return std::nullopt;
    std::array<std::vector<rational>, 3> exact;
    bool small = true;
    for (int f = 0; f < 3 && small; ++f)
      for (std::int64_t const v : value[f]) {
        auto const fraction = small_fraction(v, modulus, largest);
        small = fraction.has_value();
        if (!small) break;
        exact[f].push_back(*fraction);
      }
    if (!small) continue;
    algorithm x = assemble(s, rank, [&](int f, int block, int term) { return exact[f][term * s.blocks(f) + block]; });
    if (verifies(x)) return x;
  }
  return std::nullopt;
}

/// Adds 2^s times a solution of the linear system that takes `value` from 2^s to 2^(s+1); false where there is none, or
/// it may not go on.
bool lift_once(binary_scheme const& x, numbers& value, std::int64_t modulus, keep_going const& may_go_on) {
  // Coefficients that are odd come first: those that are zero so far stay so where they can.
  std::array<std::vector<int>, 3> unknown;
  int unknowns = 0;
  for (bool const odd : {true, false})
    for (int f = 0; f < 3; ++f) {
      unknown[f].resize(value[f].size());
      for (std::size_t e = 0; e < value[f].size(); ++e)
        if ((value[f][e] % 2 != 0) == odd) unknown[f][e] = unknowns++;
    }
  linear_system system(unknowns);
  shape const& s = x.shape;
  bool const all = for_each_equation(s, may_go_on, [&](int a, int b, int c) {
    system.add_equation();
    std::int64_t sum = s.is_term(a, b, c) ? 1 : 0;  // modulo 2 · modulus: all numbers are below it, which is small
    for (int r = 0; r < x.rank(); ++r) {
      std::array<int, 3> const at{r * s.blocks(0) + a, r * s.blocks(1) + b, r * s.blocks(2) + c};
      std::int64_t const u = value[0][at[0]], v = value[1][at[1]], w = value[2][at[2]];
      sum = (sum - u * v % (2 * modulus) * w) % (2 * modulus);
      if (v % 2 != 0 && w % 2 != 0) system.flip_unknown(unknown[0][at[0]]);
      if (u % 2 != 0 && w % 2 != 0) system.flip_unknown(unknown[1][at[1]]);
      if (u % 2 != 0 && v % 2 != 0) system.flip_unknown(unknown[2][at[2]]);
    }
    if (sum / modulus % 2 != 0) system.flip_right_side();
  });
  auto const solution = all ? system.solve(may_go_on) : std::nullopt;
  if (!solution) return false;
  for (int f = 0; f < 3; ++f)
    for (std::size_t e = 0; e < value[f].size(); ++e)
      if ((*solution)[unknown[f][e]]) value[f][e] += modulus;
  return true;
}

}  // namespace

std::optional<ternary_scheme> lift_signs(binary_scheme const& x, keep_going const& may_go_on) {
  shape const& s = x.shape;
  std::array<std::vector<int>, 3> unknown;  // the sign bit of a coefficient; −1: the coefficient is 0
  int unknowns = 0;
  for (int f = 0; f < 3; ++f)
    for (int r = 0; r < x.rank(); ++r)
      for (int i = 0; i < s.blocks(f); ++i) unknown[f].push_back(has(x, f, r, i) ? unknowns++ : -1);
  linear_system system(unknowns);
  bool possible = true;
  // A product of signs is 1 − 2 (sum of bits) modulo 4, so that count − 2 Σ bits = 0 or 1 modulo 4.
  bool const all = for_each_equation(s, may_go_on, [&](int a, int b, int c) {
    int count = 0;
    for (int r = 0; r < x.rank(); ++r) {
      if (!has(x, 0, r, a) || !has(x, 1, r, b) || !has(x, 2, r, c)) continue;
      if (count++ == 0) system.add_equation();
      system.flip_unknown(unknown[0][r * s.blocks(0) + a]);
      system.flip_unknown(unknown[1][r * s.blocks(1) + b]);
      system.flip_unknown(unknown[2][r * s.blocks(2) + c]);
    }
    int const excess = count - (s.is_term(a, b, c) ? 1 : 0);
    possible = possible && excess % 2 == 0;
    if (count > 0 && excess / 2 % 2 != 0) system.flip_right_side();
  });
  if (!all || !possible) return std::nullopt;
  auto const negative = system.solve(may_go_on);
  if (!negative) return std::nullopt;

  ternary_scheme result{s, {}};
  for (int f = 0; f < 3; ++f)
    for (int r = 0; r < x.rank(); ++r) {
      ternary vector;
      for (int i = 0; i < s.blocks(f); ++i) {
        int const e = unknown[f][r * s.blocks(f) + i];
        if (e >= 0) ((*negative)[e] ? vector.minus : vector.plus) |= bits{1} << i;
      }
      result.factors[f].push_back(vector);
    }
  if (!verifies(to_algorithm(result))) return std::nullopt;
  return result;
}

std::optional<algorithm> hensel_lift(binary_scheme const& x, keep_going const& may_go_on) {
  constexpr int most_steps = 10;
  numbers value = numbers_of(x);
  std::int64_t modulus = 2;
  for (int step = 0; step < most_steps; ++step, modulus *= 2) {
    if (!lift_once(x, value, modulus, may_go_on)) return std::nullopt;
    if (auto exact = reconstruct(x.shape, x.rank(), value, 2 * modulus)) return exact;
  }
  return std::nullopt;
}

std::optional<ternary_scheme> to_ternary(algorithm const& x) {
  ternary_scheme result{{x.m, x.k, x.n}, {}};
  for (int f = 0; f < 3; ++f)
    for (int r = 0; r < x.rank(); ++r) {
      ternary vector;
      for (int i = 0; i < result.shape.blocks(f); ++i) {
        rational const& value = matrix_of(x, f)(i, r);
        if (value == rational(1)) vector.plus |= bits{1} << i;
        else if (value == rational(-1)) vector.minus |= bits{1} << i;
        else if (!value.is_zero()) return std::nullopt;
      }
      result.factors[f].push_back(vector);
    }
  return result;
}

algorithm to_algorithm(ternary_scheme const& x) {
  return assemble(x.shape, x.rank(), [&x](int f, int block, int term) {
    ternary const& vector = x.factors[f][term];
    return rational(static_cast<int>(vector.plus >> block & 1) - static_cast<int>(vector.minus >> block & 1));
  });
}

}  // namespace heptad::search
