// SPDX-License-Identifier: BSD-3-Clause
#include "src/search/assemble.hpp"

#include <array>

#include <heptad/heptad.hpp>

namespace heptad::search {

algorithm assemble(shape const& what, int rank, std::function<rational(int, int, int)> const& coefficient) {
  algorithm x;
  x.m = what.m;
  x.k = what.k;
  x.n = what.n;
  std::array<coefficient_matrix*, 3> const matrices{&x.U, &x.V, &x.W};
  for (int f = 0; f < 3; ++f) {
    *matrices[f] = {what.blocks(f), rank, {}};
    for (int i = 0; i < what.blocks(f); ++i)
      for (int r = 0; r < rank; ++r) matrices[f]->entries.push_back(coefficient(f, i, r));
  }
  set_plain_programs(x);
  return x;
}

coefficient_matrix const& matrix_of(algorithm const& x, int factor) {
  return factor == 0 ? x.U : factor == 1 ? x.V : x.W;
}

bool verifies(algorithm const& x) {
  try {
    verify(x);
    return true;
  } catch (error const&) {
    return false;
  }
}

}  // namespace heptad::search
