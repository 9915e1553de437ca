// SPDX-License-Identifier: BSD-3-Clause
// When two strided views share memory. Each view is a set of equally spaced lines (its elements along the smaller
// stride); two views are apart when their address ranges, their residues modulo the common stride, or all their lines
// are.
#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "src/api/arguments.hpp"

namespace heptad {
namespace {

/// In bytes: line j covers [first + j · spacing, first + j · spacing + span), elements `step` apart.
struct lines {
  std::int64_t first, count, spacing, span, step;

  [[nodiscard]] std::int64_t end() const noexcept { return first + (count - 1) * spacing + span; }
};

template <typename T>
lines lines_of(matrix_view<T const> const& X) noexcept {
  struct axis {
    std::int64_t extent, stride;
  };
  constexpr std::int64_t size = sizeof(T);
  std::int64_t first = reinterpret_cast<std::intptr_t>(X.data);
  auto const along = [](std::int64_t extent, std::int64_t stride) {
    return axis{extent, extent == 1 ? 0 : stride * size};  // means nothing then
  };
  axis inner = along(X.rows, X.row_stride), outer = along(X.cols, X.col_stride);
  for (axis* x : {&inner, &outer}) {
    if (x->stride < 0) first += (x->extent - 1) * x->stride;  // from the lowest address up
    x->stride = std::abs(x->stride);
  }
  // The elements of a single row or column are lines of their own.
  if (outer.extent == 1 || (inner.extent > 1 && inner.stride > outer.stride)) std::swap(inner, outer);
  return {first, outer.extent, outer.stride, (inner.extent - 1) * inner.stride + size, inner.stride};
}

/// Does any line of Y meet [begin, end)?
bool meets(lines const& Y, std::int64_t begin, std::int64_t end) noexcept {
  if (end <= Y.first || begin >= Y.end()) return false;
  if (Y.spacing == 0) return true;
  // The first line that ends after `begin` is the only one to look at: later ones start later.
  std::int64_t const behind = begin - Y.first - Y.span;
  std::int64_t const line = behind < 0 ? 0 : behind / Y.spacing + 1;
  return line < Y.count && Y.first + line * Y.spacing < end;
}

}  // namespace

template <typename T>
bool overlap(matrix_view<T const> const& X, matrix_view<T const> const& Y) noexcept {
  if (X.rows == 0 || X.cols == 0 || Y.rows == 0 || Y.cols == 0) return false;
  lines few = lines_of(X), many = lines_of(Y);
  if (few.first >= many.end() || many.first >= few.end()) return false;
  std::int64_t const common = std::gcd(std::gcd(few.step, few.spacing), std::gcd(many.step, many.spacing));
  if (common > 0) {
    constexpr std::int64_t size = sizeof(T);
    std::int64_t const offset = ((many.first - few.first) % common + common) % common;
    if (offset >= size && offset <= common - size) return false;
  }
  if (few.count > many.count) std::swap(few, many);
  for (std::int64_t j = 0; j < few.count; ++j) {
    std::int64_t const begin = few.first + j * few.spacing;
    if (meets(many, begin, begin + few.span)) return true;
  }
  return false;
}

template bool overlap(matrix_view<double const> const&, matrix_view<double const> const&) noexcept;
template bool overlap(matrix_view<float const> const&, matrix_view<float const> const&) noexcept;

}  // namespace heptad
