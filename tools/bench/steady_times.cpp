// SPDX-License-Identifier: BSD-3-Clause
#include "tools/bench/steady_times.hpp"

#include <algorithm>
#include <cmath>

#include "src/api/median.hpp"

namespace heptad::bench {
namespace {

constexpr std::size_t reach = 3;
constexpr int most_rounds = 1000;
constexpr double settled = 1e-6;
constexpr double least_residual = 1e-3;  // a call that fits better than this counts no more

/// How far the logarithm of the thing's time is from that of the one that fits its neighbours.
double step_of(std::size_t thing, std::span<timed_call const> calls, std::vector<double> const& slower) {
  double sum = 0, weights = 0;
  for (std::size_t j = 0; j < calls.size(); ++j) {
    if (calls[j].what != thing) continue;
    for (std::size_t i = j - std::min(j, reach); i < std::min(j + reach + 1, calls.size()); ++i) {
      if (calls[i].what == thing) continue;
      double const residual = slower[j] - slower[i], weight = 1 / std::max(std::abs(residual), least_residual);
      sum += weight * residual, weights += weight;
    }
  }
  return weights > 0 ? sum / weights : 0;
}

}  // namespace

std::vector<double> steady_times(std::span<timed_call const> calls, std::size_t count) {
  std::vector<double> logs(count, 0.0), slower;  // of the times, and of what each call took beside its thing's time
  for (timed_call const& c : calls) slower.push_back(std::log(c.seconds));
  double moved = 1;
  for (int round = 0; round < most_rounds && moved > settled; ++round) {
    moved = 0;
    for (std::size_t thing = 0; thing < count; ++thing) {
      double const step = step_of(thing, calls, slower);
      logs[thing] += step, moved = std::max(moved, std::abs(step));
      for (std::size_t j = 0; j < calls.size(); ++j)
        if (calls[j].what == thing) slower[j] -= step;
    }
  }
  double const middle = median(slower);
  std::vector<double> times;
  for (double const log : logs) times.push_back(std::exp(log + middle));
  return times;
}

}  // namespace heptad::bench
