// SPDX-License-Identifier: BSD-3-Clause
// Two machines with round figures: what is asserted of plans must not depend on the one that runs the tests.
#pragma once

#include <tuple>

#include "src/plan/profile.hpp"

namespace heptad::test {

/// Two cores of Zen 4: 57 Gflop/s in double, memory as fast as the last cache.
inline machine_profile zen4() {
  machine_profile p;
  p.cpu = "Zen 4";
  p.kernel = "avx512";
  p.cores = 2;
  p.memory_bytes = std::size_t{16} << 30;
  p.pass_gbytes_l2 = 60;
  p.pass_gbytes_l3 = 45;
  p.pass_gbytes = 40;
  p.pass_gbytes_all = 50;
  p.update_gbytes = 46;
  for (rate_table* r : {&p.f64, &p.f32}) {
    double const peak = r == &p.f64 ? 57 : 114;
    r->product_gflops = peak;
    r->fringe_gflops = peak / 6;
    r->leaves.clear();
    for (auto const& [size, classical, ab] : {std::tuple{64, .5, .36},
                                              {128, .74, .62},
                                              {256, .88, .85},
                                              {512, .94, .98},
                                              {1024, .97, 1.05},
                                              {2048, 1.0, 1.07}})
      r->leaves.push_back({size, classical * peak, ab * peak, .97 * ab * peak});
  }
  return p;
}

/// The same with faster arithmetic and slower memory: levels pay later.
inline machine_profile server() {
  machine_profile p = zen4();
  p.cpu = "server";
  p.l2_bytes = 2 << 20;
  p.l3_bytes = 256 << 20;
  p.pass_gbytes_l3 = 30;
  p.pass_gbytes = p.update_gbytes = 25;
  for (rate_table* r : {&p.f64, &p.f32}) {
    r->product_gflops *= 1.42;
    r->fringe_gflops *= 1.42;
    for (auto& l : r->leaves) l.classical_gflops *= 1.42, l.ab_gflops *= 1.42, l.abc_gflops *= 1.42;
  }
  return p;
}

}  // namespace heptad::test
