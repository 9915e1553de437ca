// SPDX-License-Identifier: BSD-3-Clause
// Schemes as bits. A scheme is a list of terms u ⊗ v ⊗ w that add up to the tensor of ⟨m,k,n⟩; a factor holds one bit
// (over GF(2)) or two (−1, 0, 1) for each block of A, B or C, row-major, so that no operand has more than 64 blocks.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace heptad::search {

/// ⟨m,k,n⟩: factor 0 is over the m×k blocks of A, 1 over the k×n of B, 2 over the m×n of C.
struct shape {
  int m = 1, k = 1, n = 1;

  [[nodiscard]] int rows(int factor) const noexcept { return factor == 1 ? k : m; }
  [[nodiscard]] int cols(int factor) const noexcept { return factor == 0 ? k : n; }
  [[nodiscard]] int blocks(int factor) const noexcept { return rows(factor) * cols(factor); }
  /// Whether A(a) B(b) is a term of C(c).
  [[nodiscard]] bool is_term(int a, int b, int c) const noexcept {
    return a % k == b / n && a / k == c / n && b % n == c % n;
  }
  friend bool operator==(shape const&, shape const&) = default;
};

constexpr int most_blocks = 64;

using bits = std::uint64_t;

/// A vector over {−1, 0, 1}.
struct ternary {
  bits plus = 0, minus = 0;

  [[nodiscard]] constexpr bits support() const noexcept { return plus | minus; }
  [[nodiscard]] constexpr int nonzeros() const noexcept { return std::popcount(support()); }
  [[nodiscard]] constexpr ternary negated() const noexcept { return {minus, plus}; }
  friend bool operator==(ternary const&, ternary const&) = default;
};

/// Whether a + b has entries in {−1, 0, 1} only.
constexpr bool can_add(ternary a, ternary b) noexcept { return ((a.plus & b.plus) | (a.minus & b.minus)) == 0; }
/// Where can_add.
constexpr ternary add(ternary a, ternary b) noexcept {
  return {(a.plus | b.plus) & ~(a.minus | b.minus), (a.minus | b.minus) & ~(a.plus | b.plus)};
}

/// The same words for vectors over GF(2).
constexpr bits support(bits x) noexcept { return x; }
constexpr bits support(ternary x) noexcept { return x.support(); }
constexpr bits negated(bits x) noexcept { return x; }
constexpr ternary negated(ternary x) noexcept { return x.negated(); }
constexpr bool can_add(bits, bits) noexcept { return true; }
constexpr bits add(bits a, bits b) noexcept { return a ^ b; }

template <typename Vector>
struct scheme_over {
  search::shape shape;
  std::array<std::vector<Vector>, 3> factors;  // [factor][term]

  [[nodiscard]] int rank() const noexcept { return static_cast<int>(factors[0].size()); }
  friend bool operator==(scheme_over const&, scheme_over const&) = default;
};
using binary_scheme = scheme_over<bits>;
/// Over the integers, with coefficients −1, 0 and 1.
using ternary_scheme = scheme_over<ternary>;

/// The classical algorithm: one term for each product of blocks.
binary_scheme classical_scheme(shape const& s);

/// Whether the Brent equations hold over GF(2).
bool holds(binary_scheme const& x);

}  // namespace heptad::search
