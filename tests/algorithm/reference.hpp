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

/// In the integers modulo a prime, where fractions are integers too: the inverse of a is a^(prime − 2).
constexpr std::int64_t prime = 1'000'003;

inline std::int64_t modulo_prime(rational const& x) {
  std::int64_t inverse = 1, power = (x.den() % prime + prime) % prime;
  for (std::int64_t e = prime - 2; e > 0; e /= 2, power = power * power % prime)
    if (e % 2 == 1) inverse = inverse * power % prime;
  return x.num() % prime * inverse % prime;
}

/// Whether U, V and W multiply random matrices of such numbers. Coefficients may be fractions.
inline void require_multiplies_modulo_a_prime(algorithm const& x) {
  std::mt19937_64 random(21);
  auto const numbers = [&random](int count) {
    std::vector<std::int64_t> list(count);
    for (auto& value : list) value = static_cast<std::int64_t>(random() % prime);
    return list;
  };
  for (int trial = 0; trial < 20; ++trial) {
    auto const A = numbers(x.m * x.k), B = numbers(x.k * x.n);
    std::vector<std::int64_t> C(x.m * x.n, 0), M(x.rank());
    for (int r = 0; r < x.rank(); ++r) {
      std::int64_t left = 0, right = 0;
      for (int i = 0; i < x.m * x.k; ++i) left = (left + modulo_prime(x.U(i, r)) * A[i]) % prime;
      for (int j = 0; j < x.k * x.n; ++j) right = (right + modulo_prime(x.V(j, r)) * B[j]) % prime;
      for (int p = 0; p < x.m * x.n; ++p) C[p] = (C[p] + left * right % prime * modulo_prime(x.W(p, r))) % prime;
    }
    for (int i = 0; i < x.m; ++i)
      for (int l = 0; l < x.n; ++l) {
        std::int64_t sum = 0;
        for (int j = 0; j < x.k; ++j) sum = (sum + A[i * x.k + j] * B[j * x.n + l]) % prime;
        REQUIRE((C[i * x.n + l] - sum) % prime == 0);
      }
  }
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
