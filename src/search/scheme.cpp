// SPDX-License-Identifier: BSD-3-Clause
#include "src/search/scheme.hpp"

namespace heptad::search {

binary_scheme classical_scheme(shape const& s) {
  binary_scheme x{s, {}};
  for (int i = 0; i < s.m; ++i)
    for (int j = 0; j < s.k; ++j)
      for (int l = 0; l < s.n; ++l) {
        x.factors[0].push_back(bits{1} << (i * s.k + j));
        x.factors[1].push_back(bits{1} << (j * s.n + l));
        x.factors[2].push_back(bits{1} << (i * s.n + l));
      }
  return x;
}

bool holds(binary_scheme const& x) {
  for (int a = 0; a < x.shape.blocks(0); ++a)
    for (int b = 0; b < x.shape.blocks(1); ++b) {
      bits sum = 0, must = 0;
      for (int r = 0; r < x.rank(); ++r)
        if ((x.factors[0][r] >> a & 1) != 0 && (x.factors[1][r] >> b & 1) != 0) sum ^= x.factors[2][r];
      for (int c = 0; c < x.shape.blocks(2); ++c)
        if (x.shape.is_term(a, b, c)) must |= bits{1} << c;
      if (sum != must) return false;
    }
  return true;
}

}  // namespace heptad::search
