// SPDX-License-Identifier: BSD-3-Clause
// The Brent equations as a least-squares problem over the reals, for what the flip graph does not reach, solved by the
// Levenberg-Marquardt method (for such equations: Tichavský, Phan and Cichocki 2016, "Numerical CP decomposition of
// some difficult tensors") from random starts. A small weight on the squares of the coefficients, which fades, keeps
// them from growing without bound. A symmetry that the algorithm is to have divides the number of unknowns, and finds
// what no start without one does. A solution is made exact by weights that favour zeros: it slides along the others,
// which changes of basis and of scale give, until most coefficients vanish and the rest are fractions.
#pragma once

#include <optional>

#include "src/algorithm/algorithm.hpp"
#include "src/search/flip_walk.hpp"
#include "src/search/keep_going.hpp"
#include "src/search/scheme.hpp"

namespace heptad::search {

struct fit_report {
  bool solved = false;             // over the reals
  std::optional<algorithm> exact;  // verified; absent where the solution could not be made exact
};

/// One random start. With a symmetry of order s > 1, the rows of A, the rows of B and the columns of B rotate within
/// groups of s neighbours (0→1→…→s−1→0, s→s+1→…; what is left over stays), those of C with them, and that only permutes
/// the terms: all but rank mod s of them within groups of s. Ends early where may_step, asked before every step, says
/// no, or may_go_on, asked within the steps and between them.
fit_report fit(shape const& what, int rank, int symmetry, generator& random, keep_going const& may_step,
               keep_going const& may_go_on = to_the_end);

}  // namespace heptad::search
