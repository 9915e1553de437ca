// SPDX-License-Identifier: BSD-3-Clause
// One random call: drawn, run by the reference and by Heptad on equal operands, and compared. An element may differ by
// a norm-wise bound, C := alpha op(A) op(B) + beta C by 64 u (|alpha| k ‖A‖‖B‖ + |beta| ‖C‖); nothing else may differ.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

namespace heptad::fuzz {

/// What xerbla_ was told on this thread since the last time, 0: nothing.
int take_reported();
/// The environment allows no fast level.
bool by_classical_algorithm();

class harness {
public:
  /// `reference`: a handle of the reference BLAS.
  harness(void* reference, double largest);
  ~harness();
  /// "" or what was wrong. From any number of threads at once.
  std::string run(std::uint64_t seed, std::uint64_t call);
  /// How many calls of each kind there were.
  [[nodiscard]] std::string summary() const;

private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace heptad::fuzz
