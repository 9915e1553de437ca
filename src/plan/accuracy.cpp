// SPDX-License-Identifier: BSD-3-Clause
// The accuracy model. Bound: with α_r = Σ|u_ir|, β_r = Σ|v_jr| and k0 = k / k̃, one level gives, to first order in u,
//   f(k) = e f(k0) + g k0,   f = k² for the classical product,   e = max_p Σ_r |w_pr| α_r β_r,
//   g = max_p { Σ_r |w_pr| (δU_r β_r + α_r δV_r) + δW_p },
// δ the rounding of the sums in units of u times the largest operand (Higham 2002, §23.2.2; Bini & Lotti 1980). The
// rest of k that no level divides adds (k − k_core) k. Strassen: e = 12, g = 50, which is Higham's theorem 23.2.
#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "src/algorithm/algorithm.hpp"
#include "src/plan/accuracy.hpp"
#include "src/plan/planner.hpp"

namespace heptad {
namespace {

double magnitude(rational const& x) { return std::abs(x.value()); }

bool rounds(rational const& x) {
  auto const power_of_two = [](std::int64_t v) { return v != 0 && (v & (v - 1)) == 0; };
  return !x.is_zero() && !(power_of_two(std::abs(x.num())) && power_of_two(x.den()));
}

// Rounding of Σ of terms of these magnitudes, in the worst order (largest first): every partial sum rounds.
double worst_sum(std::vector<double> terms) {
  std::sort(terms.begin(), terms.end(), std::greater<>());
  double partial = 0, rounding = 0;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    partial += terms[i];
    if (i > 0) rounding += partial;
  }
  return rounding;
}

// δ of the outputs of a program whose inputs are exact and at most 1: errors travel along the steps, and every partial
// sum of a step rounds.
std::vector<double> program_rounding(additions_program const& program) {
  std::vector<double> largest(program.inputs, 1.0), rounding(program.inputs, 0.0);
  for (auto const& step : program.steps) {
    double partial = 0, error = 0;
    for (std::size_t i = 0; i < step.size(); ++i) {
      auto const& [value, coefficient] = step[i];
      partial += magnitude(coefficient) * largest[value];
      error += magnitude(coefficient) * (rounding[value] + (rounds(coefficient) ? largest[value] : 0));
      if (i > 0) error += partial;
    }
    largest.push_back(partial);
    rounding.push_back(error);
  }
  std::vector<double> result;
  for (auto const& [value, coefficient] : program.outputs)
    result.push_back(magnitude(coefficient) * (rounding[value] + (rounds(coefficient) ? largest[value] : 0)));
  return result;
}

struct operand_sums {
  std::vector<double> norm, rounding;  // α and δ of every product's sum
};

operand_sums sums_of(coefficient_matrix const& matrix, additions_program const& program) {
  operand_sums result{{}, program_rounding(program)};
  for (int r = 0; r < matrix.cols; ++r) {
    std::vector<double> terms;
    double norm = 0, scaled = 0;
    for (int i = 0; i < matrix.rows; ++i) {
      double const u = magnitude(matrix(i, r));
      if (u == 0) continue;
      terms.push_back(u);
      norm += u;
      if (rounds(matrix(i, r))) scaled += u;
    }
    result.norm.push_back(norm);
    // Fused levels form the plain sum, explicit ones run the program: the worse of the two.
    result.rounding[r] = std::max(result.rounding[r], worst_sum(terms) + scaled);
  }
  return result;
}

}  // namespace

level_accuracy accuracy_of(algorithm const& x) {
  operand_sums const a = sums_of(x.U, x.sums_A), b = sums_of(x.V, x.sums_B);
  level_accuracy result;
  result.k = x.k;
  result.amplification = stability_factor(x);
  for (int p = 0; p < x.W.rows; ++p) {
    std::vector<double> terms;
    double carried = 0;
    for (int r = 0; r < x.rank(); ++r) {
      double const w = magnitude(x.W(p, r));
      if (w == 0) continue;
      terms.push_back(w * a.norm[r] * b.norm[r]);
      carried += w * (a.rounding[r] * b.norm[r] + a.norm[r] * b.rounding[r]);
      if (rounds(x.W(p, r))) carried += terms.back();
    }
    result.rounding = std::max(result.rounding, carried + worst_sum(std::move(terms)));
  }
  // ×2 a level for Strassen (e = 12) and ×2.4 for Winograd (e = 18) are measured on uniform ± data; between and beyond
  // them the power law through both.
  double const exponent = std::log(2.4 / 2.0) / std::log(18.0 / 12.0);
  result.growth =
      x.rank() == x.m * x.k * x.n ? 1.0 : std::max(1.0, 2.0 * std::pow(result.amplification / 12, exponent));
  return result;
}

double error_bound(std::span<level_accuracy const* const> levels, double k, double core_k) {
  double inner = core_k;
  for (level_accuracy const* level : levels) inner /= level->k;
  double f = inner * inner;
  for (std::size_t l = levels.size(); l-- > 0;) {
    f = levels[l]->amplification * f + levels[l]->rounding * inner;
    inner *= levels[l]->k;
  }
  return f + (k - core_k) * k;
}

double expected_growth(std::span<level_accuracy const* const> levels) {
  double growth = 1;
  for (level_accuracy const* level : levels) growth *= level->growth;
  return growth;
}

double error_bound(plan const& p) {
  std::vector<level_accuracy> levels;
  for (plan_level const& l : p.levels) levels.push_back(accuracy_of(*l.coefficients));
  std::vector<level_accuracy const*> pointers;
  for (level_accuracy const& l : levels) pointers.push_back(&l);
  double const k = static_cast<double>(p.shape.k);
  return error_bound(pointers, k, levels.empty() ? k : static_cast<double>(p.core_k));
}

double expected_growth(plan const& p) {
  double growth = 1;
  for (plan_level const& l : p.levels) growth *= accuracy_of(*l.coefficients).growth;
  return growth;
}

}  // namespace heptad
