// SPDX-License-Identifier: BSD-3-Clause
// New algorithms from old ones: Kronecker products, and the symmetries of the trilinear form
// Σ_r (Σ u_ir A_i)(Σ v_jr B_j)(Σ w_pr Cᵀ_p) = trace(A B Cᵀ).
#include "src/algorithm/algorithm.hpp"

namespace heptad {
namespace {

/// Row numbers of a matrix of blocks (rows × cols, row-major) read transposed: entry (j, i) of the result, row-major
/// over cols × rows, is block (i, j).
std::vector<int> transposed_blocks(int rows, int cols) {
  std::vector<int> order;
  for (int j = 0; j < cols; ++j)
    for (int i = 0; i < rows; ++i) order.push_back(i * cols + j);
  return order;
}

coefficient_matrix with_rows(coefficient_matrix const& matrix, std::vector<int> const& order) {
  coefficient_matrix result{matrix.rows, matrix.cols, {}};
  result.entries.reserve(matrix.entries.size());
  for (int const row : order)
    for (int r = 0; r < matrix.cols; ++r) result.entries.push_back(matrix(row, r));
  return result;
}

/// Blocks of one level (rows × cols) that hold the coefficients of one operand.
struct grid {
  coefficient_matrix const& coefficients;
  int rows, cols;
};

coefficient_matrix kronecker(grid const& outer, grid const& inner) {
  int const rows = outer.rows * inner.rows;
  int const cols = outer.cols * inner.cols;
  int const inner_rank = inner.coefficients.cols;
  coefficient_matrix result{rows * cols, outer.coefficients.cols * inner_rank, {}};
  result.entries.reserve(static_cast<std::size_t>(result.rows) * result.cols);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < cols; ++j) {
      int const outer_block = i / inner.rows * outer.cols + j / inner.cols;
      int const inner_block = i % inner.rows * inner.cols + j % inner.cols;
      for (int r = 0; r < result.cols; ++r)
        result.entries.push_back(outer.coefficients(outer_block, r / inner_rank) *
                                 inner.coefficients(inner_block, r % inner_rank));
    }
  return result;
}

}  // namespace

algorithm kronecker(algorithm const& outer, algorithm const& inner) {
  algorithm x;
  x.name = outer.name + "*" + inner.name;
  x.source = "Kronecker product of " + outer.name + " and " + inner.name;
  x.m = outer.m * inner.m;
  x.k = outer.k * inner.k;
  x.n = outer.n * inner.n;
  x.U = kronecker(grid{outer.U, outer.m, outer.k}, grid{inner.U, inner.m, inner.k});
  x.V = kronecker(grid{outer.V, outer.k, outer.n}, grid{inner.V, inner.k, inner.n});
  x.W = kronecker(grid{outer.W, outer.m, outer.n}, grid{inner.W, inner.m, inner.n});
  set_plain_programs(x);
  return x;
}

// trace(A B Cᵀ) = trace(B Cᵀ A): B takes the place of A, Cᵀ that of B, and A that of Cᵀ.
algorithm rotate(algorithm const& x) {
  algorithm y;
  y.name = x.name + "-rotated";
  y.source = x.source + "; rotated";
  y.m = x.k;
  y.k = x.n;
  y.n = x.m;
  std::vector<int> const new_B = transposed_blocks(x.m, x.n);
  std::vector<int> const new_C = transposed_blocks(x.m, x.k);
  y.U = x.V;
  y.V = with_rows(x.W, new_B);
  y.W = with_rows(x.U, new_C);
  y.sums_A = x.sums_B;
  y.sums_B = with_inputs(transposed(x.sums_C), new_B);
  y.sums_C = with_outputs(transposed(x.sums_A), new_C);
  return y;
}

algorithm transpose(algorithm const& x) {
  algorithm y;
  y.name = x.name + "-transposed";
  y.source = x.source + "; transposed";
  y.m = x.n;
  y.k = x.k;
  y.n = x.m;
  std::vector<int> const new_A = transposed_blocks(x.k, x.n);
  std::vector<int> const new_B = transposed_blocks(x.m, x.k);
  std::vector<int> const new_C = transposed_blocks(x.m, x.n);
  y.U = with_rows(x.V, new_A);
  y.V = with_rows(x.U, new_B);
  y.W = with_rows(x.W, new_C);
  y.sums_A = with_inputs(x.sums_B, new_A);
  y.sums_B = with_inputs(x.sums_A, new_B);
  y.sums_C = with_outputs(x.sums_C, new_C);
  return y;
}

}  // namespace heptad
