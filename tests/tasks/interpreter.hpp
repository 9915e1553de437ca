// SPDX-License-Identifier: BSD-3-Clause
// Runs a graph with plain loops on small matrices of integers held in doubles (exact), task by task in any order, and
// records which elements each task read and wrote.
#pragma once

#include <map>
#include <random>
#include <vector>

#include "tasks/graph.hpp"

namespace heptad::test {

struct matrix {
  std::int64_t rows = 0, cols = 0;
  std::vector<double> data;  // column-major

  matrix() = default;
  matrix(std::int64_t r, std::int64_t c, double value)
      : rows(r), cols(c), data(static_cast<std::size_t>(r * c), value) {}
  double& operator()(std::int64_t i, std::int64_t j) { return data[static_cast<std::size_t>(i + j * rows)]; }
  double operator()(std::int64_t i, std::int64_t j) const { return data[static_cast<std::size_t>(i + j * rows)]; }
};

matrix random_integers(std::int64_t rows, std::int64_t cols, std::mt19937& random);
matrix not_a_number(std::int64_t rows, std::int64_t cols);

/// Elements of one task, by space: 1 read, 2 written, 3 both.
using touched_elements = std::map<int, std::map<std::pair<std::int64_t, std::int64_t>, int>>;

struct run {
  matrix C;
  std::vector<touched_elements> touched;  // by task, when recorded
};

/// C := alpha A B + beta C in the given order of tasks. Workspace and scratch start as NaN.
run interpret(graph const& g, std::vector<int> const& order, double alpha, matrix const& A, matrix const& B,
              double beta, matrix C, bool record = false);

std::vector<int> program_order(graph const& g);
/// A random order that keeps all edges.
std::vector<int> random_order(dependencies const& d, std::mt19937& random);

/// The definition.
matrix classical_product(double alpha, matrix const& A, matrix const& B, double beta, matrix const& C);

}  // namespace heptad::test
