// SPDX-License-Identifier: BSD-3-Clause
// The rules of every argument.
#include "src/api/arguments.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <numeric>

#include "src/matrix/reject.hpp"

namespace heptad {
namespace {

// Five-level page tables address 2^57 bytes: no matrix is larger, and no sum of a few such sizes overflows.
constexpr std::int64_t address_space = std::int64_t{1} << 57;

/// rows × cols elements fit in the address space.
void check_addressable(char const* name, std::int64_t rows, std::int64_t cols, std::int64_t element_bytes) {
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(rows, cols, &bytes) || __builtin_mul_overflow(bytes, element_bytes, &bytes) ||
      bytes > address_space) {
    reject(fmt::format("{} of {} x {} elements is larger than the address space", name, rows, cols));
  }
}

/// Elements (i, j) and (i', j') share an address when (i − i') rs = (j' − j) cs, first at i − i' = cs / gcd(rs, cs).
bool strides_collide(std::int64_t rows, std::int64_t cols, std::int64_t rs, std::int64_t cs) {
  if (rows == 0 || cols == 0) return false;
  if (rows == 1 || cols == 1) return (rows > 1 && rs == 0) || (cols > 1 && cs == 0);
  std::int64_t const common = std::gcd(rs, cs);
  return common == 0 || (std::abs(cs / common) < rows && std::abs(rs / common) < cols);
}

template <typename T>
void check_view(char const* name, matrix_view<T> const& X, bool accessed) {
  check_size(name, X.rows, ".rows");
  check_size(name, X.cols, ".cols");
  check_addressable(name, X.rows, X.cols, sizeof(T));
  if (X.rows == 0 || X.cols == 0) return;
  auto const too_far = [](std::int64_t extent, std::int64_t stride) {
    std::int64_t reach = 0;
    return __builtin_mul_overflow(extent - 1, stride, &reach) || reach > address_space / std::int64_t{sizeof(T)} ||
           reach < -address_space / std::int64_t{sizeof(T)};
  };
  if (too_far(X.rows, X.row_stride) || too_far(X.cols, X.col_stride)) {
    reject(fmt::format("{} of {} x {} elements with strides {} and {} reaches beyond the address space", name, X.rows,
                       X.cols, X.row_stride, X.col_stride));
  }
  if (strides_collide(X.rows, X.cols, X.row_stride, X.col_stride)) {
    reject(
        fmt::format("{} with row_stride = {} and col_stride = {} must not have two of its {} x {} elements at one "
                    "address",
                    name, X.row_stride, X.col_stride, X.rows, X.cols));
  }
  if (accessed && X.data == nullptr) {
    reject(fmt::format("{}.data = null must point to {} x {} elements", name, X.rows, X.cols));
  }
}

/// From the first byte of X to the one behind its last.
template <typename T>
std::string addresses(matrix_view<T const> const& X) {
  constexpr std::int64_t size = sizeof(T);
  auto begin = reinterpret_cast<std::intptr_t>(X.data), end = begin + size;
  for (std::int64_t const reach : {(X.rows - 1) * X.row_stride * size, (X.cols - 1) * X.col_stride * size})
    (reach < 0 ? begin : end) += reach;
  return fmt::format("[{:#x}, {:#x})", begin, end);
}

template <typename T>
void check_apart(matrix_view<T const> const& C, char const* name, matrix_view<T const> const& X) {
  if (overlap(C, X))
    reject(fmt::format("C must not overlap {}: C is in {}, {} in {}", name, addresses(C), name, addresses(X)));
}

}  // namespace

void check_size(char const* name, std::int64_t size, char const* part) {
  if (size < 0) reject(fmt::format("{}{} = {} must not be negative", name, part, size));
}

template <typename T>
void check_operands(operands<T> const& x) {
  bool const reads = x.reads_factors();
  check_view("A", x.A, reads);
  check_view("B", x.B, reads);
  check_view("C", x.C, true);
  if (x.A.rows != x.C.rows) reject(fmt::format("A.rows = {} must be C.rows = {}", x.A.rows, x.C.rows));
  if (x.B.rows != x.A.cols) reject(fmt::format("B.rows = {} must be A.cols = {}", x.B.rows, x.A.cols));
  if (x.B.cols != x.C.cols) reject(fmt::format("B.cols = {} must be C.cols = {}", x.B.cols, x.C.cols));
  if (!reads) return;
  check_apart<T>(x.C, "A", x.A);
  check_apart<T>(x.C, "B", x.B);
}

void check_problem(problem const& shape, std::int64_t element_bytes) {
  check_size("m", shape.m);
  check_size("n", shape.n);
  check_size("k", shape.k);
  check_addressable("A", shape.m, shape.k, element_bytes);
  check_addressable("B", shape.k, shape.n, element_bytes);
  check_addressable("C", shape.m, shape.n, element_bytes);
}

template void check_operands(operands<double> const&);
template void check_operands(operands<float> const&);

}  // namespace heptad
