// SPDX-License-Identifier: BSD-3-Clause
// The accuracy model. Every element of C is a sum of signed terms a·b, each of which meets roundings on its way. With
// at most S of them on any way and E k0 the sum of the magnitudes of all ways (E the product of the levels' e, k0 the
// inner dimension of the leaves), the error is at most S u / (1 − S u) · E k0 ‖A‖max ‖B‖max (Ballard et al. 2016,
// theorem 3).
#include "src/plan/accuracy.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "src/algorithm/algorithm.hpp"
#include "src/matrix/limits.hpp"
#include "src/plan/known_algorithms.hpp"
#include "src/plan/level_schedule.hpp"
#include "src/plan/planner.hpp"

namespace heptad {
namespace {

double magnitude(rational const& x) { return std::abs(x.value()); }

bool rounds(rational const& x) {
  auto const power_of_two = [](std::int64_t v) { return v != 0 && (v & (v - 1)) == 0; };
  return !x.is_zero() && !(power_of_two(std::abs(x.num())) && power_of_two(x.den()));
}

// What the outputs of a program are made of: the sum of the magnitudes of all ways from the inputs, of which some may
// cancel, and the roundings on the longest way.
struct program_ways {
  std::vector<double> magnitude, roundings;
  double largest = 0;  // magnitude of any value on the way
};

program_ways ways_through(additions_program const& program, std::vector<double> size) {
  std::vector<double> depth(program.inputs, 0.0);
  program_ways result;
  for (auto const& step : program.steps) {
    double sum = 0, longest = 0;
    bool inexact = false;
    for (auto const& [value, coefficient] : step) {
      sum += magnitude(coefficient) * size[value];
      longest = std::max(longest, depth[value]);
      inexact = inexact || rounds(coefficient);
    }
    size.push_back(sum);
    depth.push_back(longest + static_cast<double>(step.size()) - 1 + (inexact ? 1 : 0));
  }
  for (double const s : size) result.largest = std::max(result.largest, s);
  for (auto const& [value, coefficient] : program.outputs) {
    bool const zero = coefficient.is_zero();
    result.magnitude.push_back(zero ? 0 : magnitude(coefficient) * size[value]);
    result.roundings.push_back(zero ? 0 : depth[value] + (rounds(coefficient) ? 1 : 0));
    result.largest = std::max(result.largest, result.magnitude.back());
  }
  return result;
}

// The plain sums of the columns of X, which fused levels form.
program_ways plain_ways(coefficient_matrix const& X) {
  return ways_through(plain_program(X.entries, X.rows, X.cols), std::vector<double>(X.rows, 1.0));
}

bool any_rounds(algorithm const& x) {
  for (coefficient_matrix const* X : {&x.U, &x.V, &x.W})
    if (std::any_of(X->entries.begin(), X->entries.end(), rounds)) return true;
  return false;
}

// Sets what depends on W: a product that feeds one block of C is added to it by itself, the others go through a pass of
// the program in which the former are missing (src/plan/level_schedule.hpp). `size`: magnitudes of the products.
void count_updates(algorithm const& x, std::vector<double> const& size, level_accuracy& result) {
  std::vector<bool> shared(x.rank());
  std::vector<double> shared_size;
  for (int r = 0; r < x.rank(); ++r) {
    shared[r] = result.kind != level_kind::fused && nonzeros(x.W, r) > 1;
    if (shared[r]) shared_size.push_back(size[r]);
  }
  program_ways const pass = ways_through(without_inputs(x.sums_C, shared), shared_size);
  result.direct = 0;
  for (int p = 0; p < x.W.rows; ++p) {
    double sum = pass.magnitude[p], direct = 0;
    for (int r = 0; r < x.rank(); ++r) {
      if (shared[r] || x.W(p, r).is_zero()) continue;
      sum += magnitude(x.W(p, r)) * size[r];
      ++direct;
    }
    result.amplification = std::max(result.amplification, sum);
    result.direct = std::max(result.direct, direct);
    result.update = std::max(result.update, pass.roundings[p]);
    if (pass.magnitude[p] > 0) result.passes = 1;
  }
  result.largest_C = std::max(result.amplification, pass.largest);
  for (double const s : size) result.largest_C = std::max(result.largest_C, s);
}

// The range of what α is multiplied by on its way to a product. Beside passes that is a coefficient that travels with
// it; in fused levels one of W, and one of U and of V where a block is alone in its sum, which may be one of several of
// a level that is padded.
void count_factors(algorithm const& x, level_accuracy& result) {
  auto const meets = [&](double least, double largest) {
    result.least_factor = std::min(result.least_factor, least);
    result.largest_factor = std::max(result.largest_factor, largest);
  };
  if (result.kind != level_kind::fused) {
    level_schedule const s = schedule_level(x, {});
    for (auto const* products : {&s.before_sums, &s.before_update, &s.after_update})
      for (scheduled_product const& p : *products) meets(std::abs(p.coefficient), std::abs(p.coefficient));
    return;
  }
  for (int r = 0; r < x.rank(); ++r) {
    double least = 1, largest = 1;
    for (coefficient_matrix const* X : {&x.U, &x.V, &x.W}) {
      double smallest = 1, most = 1;
      for (int i = 0; i < X->rows; ++i) {
        double const size = magnitude((*X)(i, r));
        if (size == 0) continue;
        smallest = std::min(smallest, size);
        most = std::max(most, size);
      }
      least *= smallest;
      largest *= most;
    }
    meets(least, largest);
  }
}

// Blocks of k that one product adds to C one after the other. Thin ones are never gathered in a buffer.
double k_blocks(double m, double n, double k, bool product_buffer) {
  bool const gathered = product_buffer && std::min(m, n) > thin_side;
  return gathered ? 1 : std::max(1.0, std::ceil(k / static_cast<double>(least_k_block)));
}

// With entries of random sign the error of product r is that of a leaf times ‖u_r‖ ‖v_r‖, and the errors of a block of
// C add like independent ones: √(Σ_r w_pr² ‖u_r‖² ‖v_r‖²) / k̃ for the worst block p, beside the classical product of k̃
// times the inner dimension.
double growth_of_random_errors(algorithm const& x) {
  if (x.rank() == x.m * x.k * x.n) return 1;
  auto const squares = [](coefficient_matrix const& X, int column) {
    double sum = 0;
    for (int i = 0; i < X.rows; ++i) sum += X(i, column).value() * X(i, column).value();
    return sum;
  };
  double worst = 0;
  for (int p = 0; p < x.W.rows; ++p) {
    double sum = 0;
    for (int r = 0; r < x.rank(); ++r)
      if (!x.W(p, r).is_zero()) sum += x.W(p, r).value() * x.W(p, r).value() * squares(x.U, r) * squares(x.V, r);
    worst = std::max(worst, sum);
  }
  return std::max(1.0, std::sqrt(worst) / x.k);
}

}  // namespace

level_accuracy accuracy_of(algorithm const& x, level_kind kind) {
  level_accuracy result;
  result.kind = kind;
  result.m = x.m, result.k = x.k, result.n = x.n;
  result.inexact = any_rounds(x);
  bool const fused = kind == level_kind::fused;
  program_ways const a = fused ? plain_ways(x.U) : ways_through(x.sums_A, std::vector<double>(x.U.rows, 1.0));
  program_ways const b = fused ? plain_ways(x.V) : ways_through(x.sums_B, std::vector<double>(x.V.rows, 1.0));
  result.largest_A = std::max(1.0, a.largest);
  result.largest_B = std::max(1.0, b.largest);
  result.terms_A = std::max(1, widest_column(x.U));
  result.terms_B = std::max(1, widest_column(x.V));
  std::vector<double> size;
  for (int r = 0; r < x.rank(); ++r) {
    size.push_back(a.magnitude[r] * b.magnitude[r]);
    if (!fused) result.sums = std::max(result.sums, a.roundings[r] + b.roundings[r]);
  }
  result.amplification = 0;
  count_updates(x, size, result);
  count_factors(x, result);
  result.growth = growth_of_random_errors(x);
  return result;
}

algorithm_accuracy accuracy_of(algorithm const& x) {
  algorithm_accuracy result;
  for (auto const kind : {level_kind::task, level_kind::explicit_passes, level_kind::fused}) {
    level_accuracy& one = result.of_kind[static_cast<std::size_t>(kind)] = accuracy_of(x, kind);
    result.amplification = std::max(result.amplification, one.amplification);
    result.growth = std::max(result.growth, one.growth);
  }
  return result;
}

error_bounds error_bound(std::span<level_accuracy const* const> levels, divided_problem const& x, double u) {
  double m = x.core_m, n = x.core_n, leaf = x.core_k, amplification = 1, terms_A = 1, terms_B = 1, destinations = 1;
  double conversions = 0;  // coefficients of products that are no powers of two: rounded to T, then times α
  for (level_accuracy const* level : levels) {
    m /= level->m, n /= level->n, leaf /= level->k;
    amplification *= level->amplification;
    if (level->inexact) conversions = 2;
    if (level->kind != level_kind::fused) continue;
    terms_A *= level->terms_A;
    terms_B *= level->terms_B;
    destinations *= level->direct;
    if (level->inexact) conversions = 4;  // those of the sums as well
  }
  // A leaf: k0 products and sums, the k-blocks of its own among them; its coefficient; the sums in the packing; the
  // first addition to C and those of the other products of the fused levels. 1 more for what underflows.
  double const blocks = k_blocks(m, n, leaf, x.product_buffer);
  double ways = leaf + 2 + conversions + (terms_A - 1) + (terms_B - 1) + (destinations - 1) * blocks + 1;
  double updates = destinations * blocks;  // additions to one element of C
  for (std::size_t l = levels.size(); l-- > 0;) {
    level_accuracy const& level = *levels[l];
    if (level.kind == level_kind::fused) continue;
    updates = level.direct * updates + level.passes;
    ways += level.sums + level.update + updates;
  }
  // The rest of k is added to the core of C by classical products; the fringes of m and n are classical throughout.
  double const rest = std::max(0.0, x.k - x.core_k);
  double const rest_blocks = rest > 0 ? k_blocks(x.core_m, x.core_n, rest, false) : 0;
  auto const relative = [u](double roundings) {
    return roundings * u < 1 ? roundings / (1 - roundings * u) : std::numeric_limits<double>::infinity();
  };
  double const core = relative(ways + rest_blocks) * amplification * leaf + relative(rest + 3 + updates) * rest;
  return {std::max(core, relative(x.k + 3) * x.k), relative(updates + rest_blocks + 1)};
}

double expected_growth(std::span<level_accuracy const* const> levels) {
  double growth = 1;
  for (level_accuracy const* level : levels) growth *= level->growth;
  return growth > 1 ? growth_of_sums * growth : 1;
}

double likely_classical_error(double m, double n, double k) {
  constexpr double products = 1e6;  // of which one may exceed it
  double const deviations = std::sqrt(2 * std::log(2 * products * std::max(1.0, m * n)));
  return deviations * std::sqrt(k * (k + 3) / 2);
}

magnitude_growth growth_of_magnitudes(std::span<level_accuracy const* const> levels, double k) {
  magnitude_growth result{1, 1, k};
  for (level_accuracy const* level : levels) {
    result.A *= level->largest_A;
    result.B *= level->largest_B;
    result.products *= level->largest_C;
  }
  return result;
}

void judge_accuracy(plan& p) {
  std::vector<level_accuracy const*> levels;
  for (plan_level const& l : p.levels) levels.push_back(&know(l.coefficients).accuracy[l.kind]);
  double const k = static_cast<double>(p.shape.k);
  double const u = unit_roundoff(p.type);
  error_bounds const bounds = error_bound(levels,
                                          {k, static_cast<double>(p.core_m), static_cast<double>(p.core_n),
                                           levels.empty() ? k : static_cast<double>(p.core_k), p.product_buffer},
                                          u);
  p.bound = bounds.product;
  p.bound_of_C = bounds.of_C;
  p.growth = expected_growth(levels);
  double const classical = likely_classical_error(static_cast<double>(p.shape.m), static_cast<double>(p.shape.n), k);
  p.likely_bound = std::min(p.bound, p.growth * classical);
  magnitude_growth const magnitudes = growth_of_magnitudes(levels, k);
  p.largest_A = magnitudes.A;
  p.largest_B = magnitudes.B;
  p.largest_product = magnitudes.products;
}

}  // namespace heptad
