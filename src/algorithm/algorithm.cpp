// SPDX-License-Identifier: BSD-3-Clause
// Exact verification of an algorithm by the Brent equations, and its stability factor.
#include "src/algorithm/algorithm.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <fmt/format.h>

#include <heptad/heptad.hpp>

#include "src/algorithm/programs.hpp"

namespace heptad {
namespace {

void check_matrix(algorithm const& x, coefficient_matrix const& matrix, char const* name, int rows) {
  if (matrix.rows != rows || matrix.cols != x.rank() ||
      matrix.entries.size() != static_cast<std::size_t>(rows) * x.rank())
    throw error(status::invalid_argument,
                fmt::format("algorithm {}: {} has {} × {} coefficients ({} entries), not {} × {}", x.name, name,
                            matrix.rows, matrix.cols, matrix.entries.size(), rows, x.rank()));
}

void check_program(algorithm const& x, additions_program const& program, char const* name,
                   coefficient_matrix const& matrix, bool by_rows) {
  int const inputs = by_rows ? matrix.cols : matrix.rows;
  int const outputs = by_rows ? matrix.rows : matrix.cols;
  if (program.inputs != inputs || program.outputs.size() != static_cast<std::size_t>(outputs))
    throw error(status::invalid_argument,
                fmt::format("algorithm {}: the additions program of {} has {} inputs and {} outputs, not {} and {}",
                            x.name, name, program.inputs, program.outputs.size(), inputs, outputs));
  std::vector<rational> const formed = evaluate(program);
  for (int i = 0; i < inputs; ++i)
    for (int q = 0; q < outputs; ++q) {
      rational const& is = formed[static_cast<std::size_t>(i) * outputs + q];
      rational const& must = by_rows ? matrix(q, i) : matrix(i, q);
      if (!(is == must))
        throw error(status::invalid_argument,
                    fmt::format("algorithm {}: the additions program of {} gives input {} the coefficient {} in output "
                                "{}, where the matrix has {}",
                                x.name, name, i + 1, to_string(is), q + 1, to_string(must)));
    }
}

struct weighted_product {
  int r;
  rational weight;
};

/// The products with a coefficient other than zero in this row, times their weight so far.
std::vector<weighted_product> in_row(coefficient_matrix const& matrix, int row,
                                     std::vector<weighted_product> const& products) {
  std::vector<weighted_product> kept;
  for (auto const& [r, weight] : products)
    if (!matrix(row, r).is_zero()) kept.push_back({r, weight * matrix(row, r)});
  return kept;
}

/// Σ_r u_r v_r w_r = 1 where A(i,i') B(j,j') is a term of C(p,p'), i.e. i' = j, i = p, j' = p'; else 0 (Brent 1970).
void check_brent(algorithm const& x) {
  std::vector<weighted_product> all(x.rank(), {0, 1});
  for (int r = 0; r < x.rank(); ++r) all[r].r = r;
  for (int a = 0; a < x.m * x.k; ++a) {
    std::vector<weighted_product> const with_a = in_row(x.U, a, all);
    for (int b = 0; b < x.k * x.n; ++b) {
      std::vector<weighted_product> const with_ab = in_row(x.V, b, with_a);
      for (int c = 0; c < x.m * x.n; ++c) {
        rational sum = 0;
        for (auto const& [r, weight] : with_ab)
          if (!x.W(c, r).is_zero()) sum = sum + weight * x.W(c, r);
        bool const is_term = a % x.k == b / x.n && a / x.k == c / x.n && b % x.n == c % x.n;
        if (!(sum == rational(is_term ? 1 : 0)))
          throw error(status::invalid_argument,
                      fmt::format("algorithm {}: the Brent equation (i,i',j,j',p,p') = ({},{},{},{},{},{}) fails: the "
                                  "sum of u v w over the products is {}, not {}",
                                  x.name, a / x.k + 1, a % x.k + 1, b / x.n + 1, b % x.n + 1, c / x.n + 1, c % x.n + 1,
                                  to_string(sum), is_term ? 1 : 0));
      }
    }
  }
}

}  // namespace

void set_plain_programs(algorithm& x) { set_programs(x, plain_program); }

int nonzeros(coefficient_matrix const& X, int column) {
  int count = 0;
  for (int i = 0; i < X.rows; ++i) count += X(i, column).is_zero() ? 0 : 1;
  return count;
}

int widest_column(coefficient_matrix const& X) {
  int most = 0;
  for (int r = 0; r < X.cols; ++r) most = std::max(most, nonzeros(X, r));
  return most;
}

bool adds_to_C(algorithm const& x, int r) {
  return nonzeros(x.U, r) > 0 && nonzeros(x.V, r) > 0 && nonzeros(x.W, r) > 0;
}

int nonzeros(algorithm const& x) {
  int count = 0;
  for (coefficient_matrix const* matrix : {&x.U, &x.V, &x.W})
    for (rational const& entry : matrix->entries) count += entry.is_zero() ? 0 : 1;
  return count;
}

int all_additions(algorithm const& x) { return additions(x.sums_A) + additions(x.sums_B) + additions(x.sums_C); }

void verify(algorithm const& x) {
  if (x.m < 1 || x.k < 1 || x.n < 1 || x.rank() < 1)
    throw error(status::invalid_argument,
                fmt::format("algorithm {}: ⟨{},{},{};{}⟩ is not a shape: all must be at least 1", x.name, x.m, x.k, x.n,
                            x.rank()));
  check_matrix(x, x.U, "U", x.m * x.k);
  check_matrix(x, x.V, "V", x.k * x.n);
  check_matrix(x, x.W, "W", x.m * x.n);
  check_brent(x);
  check_program(x, x.sums_A, "A", x.U, false);
  check_program(x, x.sums_B, "B", x.V, false);
  check_program(x, x.sums_C, "C", x.W, true);
}

double stability_factor(algorithm const& x) {
  auto const column_sum = [](coefficient_matrix const& matrix, int r) {
    double sum = 0;
    for (int i = 0; i < matrix.rows; ++i) sum += std::abs(matrix(i, r).value());
    return sum;
  };
  std::vector<double> product(x.rank());
  for (int r = 0; r < x.rank(); ++r) product[r] = column_sum(x.U, r) * column_sum(x.V, r);
  double largest = 0;
  for (int p = 0; p < x.W.rows; ++p) {
    double sum = 0;
    for (int r = 0; r < x.rank(); ++r) sum += std::abs(x.W(p, r).value()) * product[r];
    largest = std::max(largest, sum);
  }
  return largest;
}

}  // namespace heptad
