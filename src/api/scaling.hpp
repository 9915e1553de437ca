// SPDX-License-Identifier: BSD-3-Clause
// Diagonal scaling by powers of two: α A B = D⁻¹ (α (D A F) (F⁻¹ B G)) G⁻¹. Outside scaling (D, G) gives every row of A
// and every column of B one size, inside scaling (F) balances columns of A with rows of B (Ballard et al. 2016, §5).
#pragma once

#include <memory_resource>
#include <vector>

#include <heptad/heptad.hpp>

#include "schedulers/scan.hpp"
#include "src/api/arguments.hpp"
#include "src/api/memory.hpp"

namespace heptad {

/// What of the wish is done for operands of these magnitudes, which are finite. Automatic: outside when the sizes of
/// the rows of A or of the columns of B that are not zero spread by more than `spread_worth_scaling`, inside when it
/// would lessen max |A| max |B| by more.
inline constexpr double spread_worth_scaling = 1000;
template <typename T>
scaling_kind choose_scaling(scaling_kind wish, magnitudes<T> const& A, magnitudes<T> const& B);

/// Some columns of A and the rows of B that meet them: every row of A and every column of B is at least as large as it
/// is there.
template <typename T>
class operand_sample {
public:
  /// `memory` must outlive it.
  operand_sample(operands<T> const& x, std::pmr::memory_resource* memory);

  [[nodiscard]] T largest_A() const noexcept { return A_.largest; }
  [[nodiscard]] T largest_B() const noexcept { return B_.largest; }

  /// With no larger elements than these in A and B, which are finite and not 0, choose_scaling would choose none.
  /// Allocates nothing.
  [[nodiscard]] bool rules_out_scaling(T largest_A, T largest_B) const noexcept;

private:
  std::int64_t const line_;  // columns at both ends of k, a cache line of B: a triangle has elements at one of them
  magnitudes<T> A_, B_;
};

/// Whether the product is one of scaled rows and columns, which C is not.
constexpr bool scales_back(scaling_kind kind) noexcept {
  return kind == scaling_kind::outside || kind == scaling_kind::both;
}

/// The factor by which a scaled product's bound is above that of its plan: scaled lines have one size but for a factor
/// of two.
double bound_after(scaling_kind kind);

/// Bytes of the copies: of A, of B, and of the product when C is scaled outside and beta ≠ 0.
template <typename T>
std::size_t scaled_copy_bytes(operands<T> const& x, scaling_kind kind);

/// Copies of A and B, scaled, and the product to compute with them.
template <typename T>
class scaled_operands {
public:
  /// `memory` holds scaled_copy_bytes. A column-major C.
  scaled_operands(operands<T> const& x, scaling_kind kind, magnitudes<T> const& A, magnitudes<T> const& B,
                  memory_pool::lease memory);

  [[nodiscard]] operands<T> const& product() const noexcept { return product_; }
  [[nodiscard]] T largest_A() const noexcept { return largest_A_; }
  [[nodiscard]] T largest_B() const noexcept { return largest_B_; }

  /// After the product: brings C back to the caller's scale.
  void finish() const noexcept;

private:
  operands<T> const given_;
  memory_pool::lease memory_;
  std::vector<int> rows_, cols_;                // exponents of D and G
  std::vector<T> back_of_rows_, back_of_cols_;  // D⁻¹ and G⁻¹
  operands<T> product_;
  T largest_A_ = 0, largest_B_ = 0;
};

}  // namespace heptad
