// SPDX-License-Identifier: BSD-3-Clause
#include "src/search/join.hpp"

#include <array>
#include <vector>

#include <fmt/format.h>

#include <heptad/heptad.hpp>

#include "src/search/assemble.hpp"

namespace heptad::search {
namespace {

std::array<int, 3> sides(shape const& s) { return {s.m, s.k, s.n}; }

/// Along which of m, k, n; −1 for none.
int seam(shape const& x, shape const& y, shape const& what) {
  for (int side = 0; side < 3; ++side) {
    auto sum = sides(x);
    sum[side] += sides(y)[side];
    bool same = sum == sides(what);
    for (int other = 0; other < 3; ++other) same = same && (other == side || sides(x)[other] == sides(y)[other]);
    if (same) return side;
  }
  return -1;
}

}  // namespace

algorithm join(algorithm const& x, algorithm const& y, shape const& what) {
  shape const of_x{x.m, x.k, x.n}, of_y{y.m, y.k, y.n};
  int const side = seam(of_x, of_y, what);
  if (side < 0)
    throw error(status::invalid_argument, fmt::format("{} <{},{},{}> and {} <{},{},{}> do not make <{},{},{}>", x.name,
                                                      x.m, x.k, x.n, y.name, y.m, y.k, y.n, what.m, what.k, what.n));
  static constexpr std::array<std::array<int, 2>, 3> sides_of{{{0, 1}, {1, 2}, {0, 2}}};  // of A, B and C
  return assemble(what, x.rank() + y.rank(), [&](int factor, int block, int term) {
    bool const first = term < x.rank();
    algorithm const& part = first ? x : y;
    shape const& inner = first ? of_x : of_y;
    std::array<int, 2> at{block / what.cols(factor), block % what.cols(factor)};
    for (int d = 0; d < 2; ++d) {
      if (sides_of[factor][d] != side) continue;
      at[d] -= first ? 0 : sides(of_x)[side];
      if (at[d] < 0 || at[d] >= sides(inner)[side]) return rational(0);
    }
    return matrix_of(part, factor)(at[0] * inner.cols(factor) + at[1], first ? term : term - x.rank());
  });
}

algorithm extend(algorithm const& x, shape const& what) {
  shape const inner{x.m, x.k, x.n};
  if (inner == what) return x;
  if (x.m > what.m || x.k > what.k || x.n > what.n)
    throw error(status::invalid_argument, fmt::format("{} <{},{},{}> does not fit into <{},{},{}>", x.name, x.m, x.k,
                                                      x.n, what.m, what.k, what.n));
  std::vector<std::array<int, 3>> outside;  // the blocks of A, B and C of a product that x does not do
  for (int i = 0; i < what.m; ++i)
    for (int j = 0; j < what.k; ++j)
      for (int l = 0; l < what.n; ++l)
        if (i >= x.m || j >= x.k || l >= x.n) outside.push_back({i * what.k + j, j * what.n + l, i * what.n + l});
  return assemble(what, x.rank() + static_cast<int>(outside.size()), [&](int factor, int block, int term) {
    if (term >= x.rank()) return rational(outside[term - x.rank()][factor] == block ? 1 : 0);
    int const row = block / what.cols(factor), col = block % what.cols(factor);
    if (row >= inner.rows(factor) || col >= inner.cols(factor)) return rational(0);
    return matrix_of(x, factor)(row * inner.cols(factor) + col, term);
  });
}

}  // namespace heptad::search
