// SPDX-License-Identifier: BSD-3-Clause
// product: M = (Σ u_i A_i)(Σ v_j B_j), C_p := beta_p C_p + w_p M, serial, with the sums formed in the packing and
// the update made in the epilogue (Huang 2018, §3.2.2 "ABC" and "AB").
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "codelets/cpu/kernel_set.hpp"

namespace heptad::cpu {

enum class variant { abc, ab };  // abc: straight into C at every k-block; ab: gathered in a buffer, C touched once

template <typename T>
struct product_call {
  std::int64_t m, n, k;
  // All m×k at strides (a_rs, a_cs), and all k×n; one of each at the least has all k-steps.
  std::span<term<T> const> a;
  std::int64_t a_rs, a_cs;
  std::span<term<T> const> b;
  std::int64_t b_rs, b_cs;
  std::span<destination<T> const> c;  // all m×n; distinct blocks
  std::int64_t c_rs, c_cs;
  product_call const* next = nullptr;  // what runs next on this worker: its first blocks are prefetched meanwhile
  // Raised, unless null, to the largest |x| of the operands as in packing (kernel_set.hpp), which looks on the way.
  T *largest_a = nullptr, *largest_b = nullptr;
};

/// Bytes of scratch (64-byte aligned) that product() needs for this shape; a smaller shape may need more.
template <typename T>
std::size_t product_scratch(kernel_set<T> const& kernels, std::int64_t m, std::int64_t n, std::int64_t k, variant how);

/// At most most_terms operands and destinations each. Any m, n, k ≥ 0; k = 0 scales the destinations by their beta.
/// Destinations overlap neither operands nor scratch.
template <typename T>
void product(kernel_set<T> const& kernels, product_call<T> const& call, variant how, std::byte* scratch);

/// The same, m×n blocks of C of at most `most` rows and columns one after the other: product() takes sides beyond 2³⁰
/// so. The scratch must be enough for each.
template <typename T>
void product_in_parts(kernel_set<T> const& kernels, product_call<T> const& call, variant how, std::byte* scratch,
                      std::int64_t most);

}  // namespace heptad::cpu
