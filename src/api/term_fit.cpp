// SPDX-License-Identifier: BSD-3-Clause
// Least squares under bounds by descent along one coordinate at a time (Lawson & Hanson 1974, problem NNLS): four
// unknowns.
#include "src/api/term_fit.hpp"

#include <algorithm>

namespace heptad {

per_term fit_terms(std::span<term_sample const> samples, per_term const& least) {
  constexpr int rounds = 1000;
  per_term s = least;
  for (int round = 0; round < rounds; ++round)
    for (std::size_t i = 0; i < s.size(); ++i) {
      double towards = 0, squares = 0;
      for (term_sample const& x : samples) {
        double left = x.seconds;
        for (std::size_t j = 0; j < s.size(); ++j) left -= j == i ? 0 : x.further[j] * s[j];
        towards += x.further[i] * left;
        squares += x.further[i] * x.further[i];
      }
      s[i] = squares > 0 ? std::max(towards / squares, least[i]) : least[i];
    }
  return s;
}

}  // namespace heptad
