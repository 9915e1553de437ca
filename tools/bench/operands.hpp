// SPDX-License-Identifier: BSD-3-Clause
// The operands of a measurement and the check of its result. Every entry is a hash of its place, so that workers in
// different processes hold the same matrices. The check shares no code with any library: a 64 × 64 grid of entries
// in extended precision, and the whole matrix by Freivalds' test C x = A (B x).
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>

#include "tools/bench/gemm_case.hpp"

namespace heptad::bench {

/// Where a matrix is placed: in huge pages of its own (2 MiB; advised, as NumPy does for its arrays), or where the heap
/// has room for many.
enum class placement { huge_pages, heap };

/// Column-major, or the transpose of such a matrix; columns of either without gaps.
template <typename T>
class matrix {
public:
  matrix() = default;
  matrix(std::int64_t rows, std::int64_t cols, bool transposed = false, placement where = placement::huge_pages);
  [[nodiscard]] T* data() const { return data_.get(); }
  [[nodiscard]] std::int64_t rows() const { return rows_; }
  [[nodiscard]] std::int64_t cols() const { return cols_; }
  [[nodiscard]] bool transposed() const { return transposed_; }
  [[nodiscard]] std::int64_t leading_dimension() const { return transposed_ ? cols_ : rows_; }
  [[nodiscard]] T& operator()(std::int64_t i, std::int64_t j) const {
    return data_.get()[transposed_ ? j + i * cols_ : i + j * rows_];
  }

  /// Uniform in [−1, 1), by `seed` and place.
  void fill(std::uint64_t seed);
  void fill_nan();

private:
  struct release {
    void operator()(T* data) const { std::free(data); }
  };
  std::int64_t rows_ = 0, cols_ = 0;
  bool transposed_ = false;
  std::unique_ptr<T, release> data_;
};

struct verdict {
  double max_error = 0;      ///< over the grid: max |C − reference| / max |reference|
  double allowed_error = 0;  ///< the same by the proved bound
  double residual = 0;       ///< max |C x − A (B x)| over all rows, relative to max |reference|
  double allowed_residual = 0;
  [[nodiscard]] bool passed() const { return max_error <= allowed_error && residual <= allowed_residual; }

  NLOHMANN_DEFINE_TYPE_INTRUSIVE(verdict, max_error, allowed_error, residual, allowed_residual)
};

template <typename T>
struct operands {
  explicit operands(gemm_case const& what);
  void reset_c();  ///< beta = 0: NaN, since C must not be read

  /// bound: f with ‖C − Ĉ‖max ≤ f·u·‖A‖max‖B‖max.
  [[nodiscard]] verdict check(double bound) const;

  gemm_case what;
  matrix<T> A, B, C;
};

/// The same f for the classical algorithm: k² (Higham 2002, §3.5, in the max norm).
inline double classical_bound(std::int64_t k) { return static_cast<double>(k) * static_cast<double>(k); }

}  // namespace heptad::bench
