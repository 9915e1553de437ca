// SPDX-License-Identifier: BSD-3-Clause
#include "tools/bench/steady_times.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

using namespace heptad::bench;

TEST_CASE("without drift a steady time is the median") {
  std::vector<timed_call> calls;
  for (double const seconds : {3.0, 1.0, 2.0}) calls.push_back({0, seconds}), calls.push_back({1, 2 * seconds});
  auto const times = steady_times(calls, 2);
  CHECK(times[1] / times[0] == Approx(2).epsilon(0.002));
  CHECK(steady_times(std::vector<timed_call>{{0, 5}}, 1)[0] == Approx(5));
}

TEST_CASE("what takes turns on a machine that changes its speed is compared as if it did not") {
  std::vector<double> const truth{1, 1.04, 1.1, 0.98, 1.5, 2, 1.02, 1.06};
  std::mt19937 random(7);
  std::uniform_real_distribution<double> noise(0.995, 1.005);
  std::bernoulli_distribution interrupted(0.1);
  std::vector<timed_call> calls;
  std::vector<std::size_t> order{0, 1, 2, 3, 4, 5, 6, 7};
  double speed = 1;
  for (int turn = 0; turn < 6; ++turn) {
    std::ranges::shuffle(order, random);
    for (std::size_t const i : order) {
      if (calls.size() == 5 || calls.size() == 29) speed *= 1.4;  // half way through a turn
      if (calls.size() == 20) speed /= 1.3;
      calls.push_back({i, truth[i] * speed * noise(random) * (interrupted(random) ? 1.3 : 1)});
    }
  }
  auto const times = steady_times(calls, truth.size());
  for (std::size_t i = 0; i < truth.size(); ++i) {
    CAPTURE(i);
    CHECK(times[i] / times[0] == Approx(truth[i]).epsilon(0.02));
  }
}
