// SPDX-License-Identifier: BSD-3-Clause
// Multiplies small matrices by U, V and W, and by the additions programs, in the integers modulo a prime: fractions are
// integers there. Shares nothing with the exact verification.
#pragma once

#include <catch2/catch.hpp>
#include <cstdint>
#include <random>
#include <vector>

#include "src/algorithm/algorithm.hpp"

namespace heptad::test {

constexpr std::int64_t prime = 1'000'003;

/// The one of the same remainder from −(prime − 1)/2 to (prime − 1)/2: small integers are themselves.
inline std::int64_t reduced(std::int64_t x) {
  x %= prime;
  return x > prime / 2 ? x - prime : x < -(prime / 2) ? x + prime : x;
}

/// The inverse of a is a^(prime − 2).
inline std::int64_t reduced(rational const& x) {
  std::int64_t inverse = 1, power = reduced(x.den());
  for (std::int64_t e = prime - 2; e > 0; e /= 2, power = reduced(power * power))
    if (e % 2 == 1) inverse = reduced(inverse * power);
  return reduced(x.num() % prime * inverse);
}

/// Row-major.
struct matrix {
  int rows, cols;
  std::vector<std::int64_t> entries;
  std::int64_t operator()(int i, int j) const { return entries[i * cols + j]; }
  bool operator==(matrix const&) const = default;
};

inline matrix random_matrix(int rows, int cols, std::mt19937& random) {
  std::uniform_int_distribution<int> entry(-prime / 2, prime / 2);
  matrix X{rows, cols, std::vector<std::int64_t>(rows * cols)};
  for (auto& x : X.entries) x = entry(random);
  return X;
}

inline matrix product(matrix const& A, matrix const& B) {
  matrix C{A.rows, B.cols, std::vector<std::int64_t>(A.rows * B.cols)};
  for (int i = 0; i < A.rows; ++i)
    for (int j = 0; j < B.cols; ++j)
      for (int p = 0; p < A.cols; ++p) {
        std::int64_t& sum = C.entries[i * B.cols + j];
        sum = reduced(sum + A(i, p) * B(p, j));
      }
  return C;
}

inline matrix product_by(algorithm const& x, matrix const& A, matrix const& B) {
  matrix C{x.m, x.n, std::vector<std::int64_t>(x.m * x.n)};
  for (int r = 0; r < x.rank(); ++r) {
    std::int64_t left = 0, right = 0;
    for (int i = 0; i < x.U.rows; ++i) left = reduced(left + reduced(x.U(i, r)) * A.entries[i]);
    for (int j = 0; j < x.V.rows; ++j) right = reduced(right + reduced(x.V(j, r)) * B.entries[j]);
    std::int64_t const M = reduced(left * right);
    for (int p = 0; p < x.W.rows; ++p) C.entries[p] = reduced(C.entries[p] + reduced(x.W(p, r)) * M);
  }
  return C;
}

/// What the steps of a program give, run as written.
inline std::vector<std::int64_t> run(additions_program const& program, std::vector<std::int64_t> values) {
  REQUIRE(values.size() == static_cast<std::size_t>(program.inputs));
  for (auto const& step : program.steps) {
    std::int64_t sum = 0;
    for (auto const& [value, coefficient] : step) sum = reduced(sum + reduced(coefficient) * values.at(value));
    values.push_back(sum);
  }
  std::vector<std::int64_t> outputs;
  for (auto const& [value, coefficient] : program.outputs)
    outputs.push_back(coefficient.is_zero() ? 0 : reduced(reduced(coefficient) * values.at(value)));
  return outputs;
}

/// The product by the three additions programs alone.
inline matrix product_by_programs(algorithm const& x, matrix const& A, matrix const& B) {
  auto M = run(x.sums_A, A.entries);
  auto const right = run(x.sums_B, B.entries);
  for (std::size_t r = 0; r < M.size(); ++r) M[r] = reduced(M[r] * right.at(r));
  return {x.m, x.n, run(x.sums_C, M)};
}

inline void require_multiplies(algorithm const& x) {
  std::mt19937 random(20);
  for (int trial = 0; trial < 20; ++trial) {
    matrix const A = random_matrix(x.m, x.k, random), B = random_matrix(x.k, x.n, random);
    matrix const C = product(A, B);
    REQUIRE(product_by(x, A, B) == C);
    REQUIRE(product_by_programs(x, A, B) == C);
  }
}

}  // namespace heptad::test
