// SPDX-License-Identifier: BSD-3-Clause
// What a call may be given. Every check throws error{invalid_argument} that names the argument, its value and the rule;
// nothing is touched before all checks have passed.
#pragma once

#include <cstdint>

#include <heptad/heptad.hpp>

namespace heptad {

/// Workers of a context: as many as a machine may have cores; beyond that a caller has passed something else.
inline constexpr int most_threads = 1 << 14;

/// A product as the caller gave it, C := alpha A B + beta C.
template <typename T>
struct operands {
  T alpha{};
  matrix_view<T const> A, B;
  T beta{};
  matrix_view<T> C;
  bool transposed = false;  ///< the caller's product is Cᵀ = Bᵀ Aᵀ

  /// A and B contribute; otherwise C is only scaled and they may be null.
  [[nodiscard]] bool reads_factors() const noexcept { return alpha != T(0) && A.cols > 0 && C.rows > 0 && C.cols > 0; }
};

/// Shapes match, sizes ≥ 0 and addressable, strides keep elements apart, pointers are there where elements are, and C
/// overlaps neither A nor B.
template <typename T>
void check_operands(operands<T> const& x);

/// Sizes ≥ 0.
void check_size(char const* name, std::int64_t size, char const* part = "");

/// Sizes ≥ 0 and addressable.
void check_problem(problem const& shape, std::int64_t element_bytes);

/// Every option in its range; names of algorithms and kernel sets known, the set available on this processor.
void check_options(options const& wishes, element_type type);

/// Do two views share an address? Exact for interleaved blocks of one larger matrix, in either order, and for views of
/// every other element; may say yes for two views whose lines interleave in more than one way.
template <typename T>
bool overlap(matrix_view<T const> const& X, matrix_view<T const> const& Y) noexcept;

}  // namespace heptad
