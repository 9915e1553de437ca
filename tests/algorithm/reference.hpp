// SPDX-License-Identifier: BSD-3-Clause
// Multiplies small integer matrices by U, V and W in plain integers: shares nothing with the exact verification.
#pragma once

#include <catch2/catch.hpp>
#include <cstdint>
#include <random>
#include <vector>

#include "src/algorithm/algorithm.hpp"

namespace heptad::test {

/// Row-major.
struct integer_matrix {
  int rows, cols;
  std::vector<std::int64_t> entries;
  std::int64_t operator()(int i, int j) const { return entries[i * cols + j]; }
  bool operator==(integer_matrix const&) const = default;
};

inline integer_matrix random_matrix(int rows, int cols, std::mt19937& random) {
  std::uniform_int_distribution<int> entry(-99, 99);
  integer_matrix X{rows, cols, std::vector<std::int64_t>(rows * cols)};
  for (auto& x : X.entries) x = entry(random);
  return X;
}

inline integer_matrix product(integer_matrix const& A, integer_matrix const& B) {
  integer_matrix C{A.rows, B.cols, std::vector<std::int64_t>(A.rows * B.cols)};
  for (int i = 0; i < A.rows; ++i)
    for (int j = 0; j < B.cols; ++j)
      for (int p = 0; p < A.cols; ++p) C.entries[i * B.cols + j] += A(i, p) * B(p, j);
  return C;
}

/// Coefficients must be integers.
inline integer_matrix product_by(algorithm const& x, integer_matrix const& A, integer_matrix const& B) {
  integer_matrix C{x.m, x.n, std::vector<std::int64_t>(x.m * x.n)};
  for (int r = 0; r < x.rank(); ++r) {
    std::int64_t left = 0, right = 0;
    for (int i = 0; i < x.U.rows; ++i) left += x.U(i, r).num() * A.entries[i];
    for (int j = 0; j < x.V.rows; ++j) right += x.V(j, r).num() * B.entries[j];
    for (int p = 0; p < x.W.rows; ++p) C.entries[p] += x.W(p, r).num() * left * right;
  }
  return C;
}

/// What the steps of a program give, run as written on integers.
inline std::vector<std::int64_t> run(additions_program const& program, std::vector<std::int64_t> values) {
  REQUIRE(values.size() == static_cast<std::size_t>(program.inputs));
  for (auto const& step : program.steps) {
    std::int64_t sum = 0;
    for (auto const& [value, coefficient] : step) sum += coefficient.num() * values.at(value);
    values.push_back(sum);
  }
  std::vector<std::int64_t> outputs;
  for (auto const& [value, coefficient] : program.outputs)
    outputs.push_back(coefficient.is_zero() ? 0 : coefficient.num() * values.at(value));
  return outputs;
}

/// The product by the three additions programs alone.
inline integer_matrix product_by_programs(algorithm const& x, integer_matrix const& A, integer_matrix const& B) {
  auto M = run(x.sums_A, A.entries);
  auto const right = run(x.sums_B, B.entries);
  for (std::size_t r = 0; r < M.size(); ++r) M[r] *= right.at(r);
  return {x.m, x.n, run(x.sums_C, M)};
}

inline void require_multiplies(algorithm const& x) {
  std::mt19937 random(20);
  for (int trial = 0; trial < 20; ++trial) {
    integer_matrix const A = random_matrix(x.m, x.k, random);
    integer_matrix const B = random_matrix(x.k, x.n, random);
    REQUIRE(product_by(x, A, B) == product(A, B));
    REQUIRE(product_by_programs(x, A, B) == product(A, B));
  }
}

}  // namespace heptad::test
