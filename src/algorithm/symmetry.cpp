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

/// Builds the program of a Kronecker product, depth first: as soon as a sum of the outer level is there, what the inner
/// level makes of it follows, so that few values live at a time.
class composition {
public:
  composition(additions_program const& outer, additions_program const& inner, int inputs)
      : outer_(outer), inner_(inner), blocks_(outer.inputs + outer.steps.size()) {
    result_.inputs = inputs;
    result_.outputs.assign(outer.outputs.size() * inner.outputs.size(), {0, 0});
  }

  /// Sums of blocks: the outer program on every inner block, then the inner one on every result. Input (b, p) of the
  /// composed program is number(b, p).
  template <typename Number>
  additions_program from_blocks(Number number) && {
    for (int b = 0; b < outer_.inputs; ++b) {
      for (int p = 0; p < inner_.inputs; ++p) blocks_[b].push_back({number(b, p), 1});
      split(b);
    }
    for (std::size_t s = 0; s < outer_.steps.size(); ++s) {
      int const value = outer_.inputs + static_cast<int>(s);
      add_step(s, inner_.inputs);
      split(value);
    }
    return std::move(result_);
  }

  /// Sums of products: the inner program on the products of every outer one, then the outer program on its results.
  /// Input (r, s) is r · R2 + s; output (p, q) is number(p, q).
  template <typename Number>
  additions_program to_blocks(Number number) && {
    int const positions = static_cast<int>(inner_.outputs.size());
    for (std::size_t s = 0; s < outer_.steps.size(); ++s) {
      for (linear_term const& t : outer_.steps[s]) gather(t.value);
      add_step(s, positions);
    }
    for (std::size_t p = 0; p < outer_.outputs.size(); ++p) {
      linear_term const& output = outer_.outputs[p];
      if (output.coefficient.is_zero()) continue;
      gather(output.value);
      for (int q = 0; q < positions; ++q) result_.outputs[number(static_cast<int>(p), q)] = times(output, q);
    }
    return with_outputs(result_, every_output());
  }

private:
  [[nodiscard]] linear_term times(linear_term const& outer, int position) const {
    linear_term const& x = blocks_[outer.value][position];
    rational const c = outer.coefficient * x.coefficient;
    return c.is_zero() ? linear_term{0, 0} : linear_term{x.value, c};
  }

  [[nodiscard]] std::vector<int> every_output() const {
    std::vector<int> all(result_.outputs.size());
    for (std::size_t q = 0; q < all.size(); ++q) all[q] = static_cast<int>(q);
    return all;
  }

  linear_term add(std::vector<linear_term> sum) {
    std::erase_if(sum, [](linear_term const& t) { return t.coefficient.is_zero(); });
    if (sum.empty()) return {0, 0};
    result_.steps.push_back(std::move(sum));
    return {result_.inputs + static_cast<int>(result_.steps.size()) - 1, 1};
  }

  /// Step s of the outer program, on every inner position.
  void add_step(std::size_t s, int positions) {
    auto& made = blocks_[outer_.inputs + s];
    for (int q = 0; q < positions; ++q) {
      std::vector<linear_term> sum;
      for (linear_term const& t : outer_.steps[s]) sum.push_back(times(t, q));
      made.push_back(add(std::move(sum)));
    }
  }

  /// The inner program on these values.
  std::vector<linear_term> run_inner(std::vector<linear_term> values) {
    for (auto const& step : inner_.steps) {
      std::vector<linear_term> sum;
      for (linear_term const& t : step)
        sum.push_back({values[t.value].value, t.coefficient * values[t.value].coefficient});
      values.push_back(add(std::move(sum)));
    }
    std::vector<linear_term> results;
    for (linear_term const& t : inner_.outputs) {
      rational const c = t.coefficient.is_zero() ? rational(0) : t.coefficient * values[t.value].coefficient;
      results.push_back(c.is_zero() ? linear_term{0, 0} : linear_term{values[t.value].value, c});
    }
    return results;
  }

  /// If outputs of the outer program are multiples of this value, the inner program makes the composed ones.
  void split(int value) {
    std::vector<linear_term> parts;
    for (std::size_t r = 0; r < outer_.outputs.size(); ++r) {
      linear_term const& output = outer_.outputs[r];
      if (output.value != value || output.coefficient.is_zero()) continue;
      if (parts.empty()) parts = run_inner(blocks_[value]);
      for (std::size_t q = 0; q < parts.size(); ++q) {
        rational const c = output.coefficient * parts[q].coefficient;
        if (!c.is_zero()) result_.outputs[r * parts.size() + q] = {parts[q].value, c};
      }
    }
  }

  /// The inner sums of outer product r, once.
  void gather(int r) {
    if (r >= outer_.inputs || !blocks_[r].empty()) return;
    std::vector<linear_term> products;
    for (int s = 0; s < inner_.inputs; ++s) products.push_back({r * inner_.inputs + s, 1});
    blocks_[r] = run_inner(std::move(products));
  }

  additions_program const& outer_;
  additions_program const& inner_;
  additions_program result_;
  std::vector<std::vector<linear_term>> blocks_;  // of each outer value, by inner position
};

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
  // Row-major number of a block of the composed grid whose blocks are rows × cols within an outer grid of `across`.
  auto const numbers = [](int across, int rows, int cols) {
    return [=](int b, int p) { return (b / across * rows + p / cols) * across * cols + b % across * cols + p % cols; };
  };
  x.sums_A = composition(outer.sums_A, inner.sums_A, x.m * x.k).from_blocks(numbers(outer.k, inner.m, inner.k));
  x.sums_B = composition(outer.sums_B, inner.sums_B, x.k * x.n).from_blocks(numbers(outer.n, inner.k, inner.n));
  x.sums_C = composition(outer.sums_C, inner.sums_C, x.rank()).to_blocks(numbers(outer.n, inner.m, inner.n));
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
