// SPDX-License-Identifier: BSD-3-Clause
// What is measured: one shape, type and thread count, C := A B + beta C on column-major matrices.
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

  [[nodiscard]] double flops() const {
    return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  }
  [[nodiscard]] std::size_t operand_bytes() const {
    return static_cast<std::size_t>(m * k + k * n + m * n) * (type == 'd' ? sizeof(double) : sizeof(float));
  }
  [[nodiscard]] std::string shape() const;  ///< "4096", or "8192x8192x1024" when not square

  NLOHMANN_DEFINE_TYPE_INTRUSIVE(gemm_case, type, m, n, k, threads, beta)
};

/// "512" or "8192x8192x1024" (M×N×K). Throws std::invalid_argument that names the text.
gemm_case parse_shape(std::string const& text);

}  // namespace heptad::bench
