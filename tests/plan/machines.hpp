// SPDX-License-Identifier: BSD-3-Clause
// Two machines with round figures: what is asserted of plans must not depend on the one that runs the tests.
#pragma once

#include "src/plan/profile.hpp"

namespace heptad::test {

/// Two cores of Zen 4: 57 Gflop/s in double, memory as fast as the last cache.
inline machine_profile zen4() {
  machine_profile p;
  p.cpu = "Zen 4";
  p.kernel = "avx512";
  p.cores = 2;
  p.memory_bytes = std::size_t{16} << 30;
  p.passes = {{5e5, 60, 120}, {4e6, 45, 60}, {1e8, 40, 50}};
  p.widths = {{8, 1}, {24, 1.2}};
  p.update_gbytes = 46;
  for (rate_table* r : {&p.f64, &p.f32}) {
    double const peak = r == &p.f64 ? 57 : 114;
    r->sides = {8, 32, 64, 128, 256, 512, 1024, 2048};
    r->product_gflops.clear();
    for (int const m : r->sides)
      for (int const n : r->sides)
        for (int const k : r->sides) {
          double const mean = 3 / (1. / m + 1. / n + 1. / k);
          r->product_gflops.push_back(peak * mean / (mean + 36));
        }
    constexpr double free = 1e6;  // columns that are not whole cache lines
    r->terms = {{128, 60, 60, 60, 60, 80, 80, free},
                {448, 58, 58, 58, 57, 45, 40, free},
                {2048, 50, 50, 50, 40, 500, 500, free}};
  }
  return p;
}

/// The same with faster arithmetic and slower memory: levels pay later.
inline machine_profile server() {
  machine_profile p = zen4();
  p.cpu = "server";
  p.l2_bytes = 2 << 20;
  p.l3_bytes = 256 << 20;
  p.passes = {{1e6, 60, 120}, {8e6, 30, 60}, {5e8, 25, 50}};
  p.update_gbytes = 25;
  for (rate_table* r : {&p.f64, &p.f32})
    for (double& rate : r->product_gflops) rate *= 1.42;
  return p;
}

}  // namespace heptad::test
