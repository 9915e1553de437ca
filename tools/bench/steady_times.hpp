// SPDX-License-Identifier: BSD-3-Clause
// Times of several things that took turns on a machine whose speed changes meanwhile.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace heptad::bench {

struct timed_call {
  std::size_t what;  ///< number of the thing
  double seconds;    ///< positive
};

/// What each of `count` things takes at the median of the speeds that the machine had. Calls close in time met about
/// the same speed, so only those are compared: times t minimize Σ |log(s_j / t_j) − log(s_i / t_i)| over calls i, j of
/// different things that are at most three apart (by iteratively reweighted least squares: the sum is convex). Each
/// thing needs at least one call.
std::vector<double> steady_times(std::span<timed_call const> calls, std::size_t count);

}  // namespace heptad::bench
