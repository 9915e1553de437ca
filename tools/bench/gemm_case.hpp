// SPDX-License-Identifier: BSD-3-Clause
// What is measured: one shape, type and thread count, C := op(A) op(B) + beta C on column-major matrices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace heptad::bench {

struct gemm_case {
  char type = 'd';  ///< 'd' or 's', as in dgemm and sgemm
  std::int64_t m = 0, n = 0, k = 0;
  int threads = 1;
  double beta = 0;
  std::string transposes = "nn";  ///< what is stored: A (n) or its transpose (t), and the same of B
  std::size_t operand_sets = 1;   ///< that calls take in turns: more than caches hold, for operands from memory

  [[nodiscard]] bool a_transposed() const { return transposes[0] == 't'; }
  [[nodiscard]] bool b_transposed() const { return transposes[1] == 't'; }
  [[nodiscard]] double flops() const {
    return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  }
  /// Of all sets; more than fit into an integer for sides near 2^31.
  [[nodiscard]] double operand_bytes() const {
    double const rows = static_cast<double>(m), columns = static_cast<double>(n), depth = static_cast<double>(k);
    double const elements = rows * depth + depth * columns + rows * columns;
    return static_cast<double>(operand_sets) * elements * (type == 'd' ? sizeof(double) : sizeof(float));
  }
  /// "4096", "8192x8192x1024" when not square, "4096 nt" with transposes, "4096 cold" with several sets of operands.
  [[nodiscard]] std::string shape() const;

  NLOHMANN_DEFINE_TYPE_INTRUSIVE_WITH_DEFAULT(gemm_case, type, m, n, k, threads, beta, transposes, operand_sets)
};

/// "512" or "8192x8192x1024" (M×N×K). Throws std::invalid_argument that names the text.
gemm_case parse_shape(std::string const& text);

}  // namespace heptad::bench
