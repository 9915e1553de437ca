// SPDX-License-Identifier: BSD-3-Clause
// A fork while another thread makes what is kept for the process. Each round is a process that has made none of it.
#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "src/algorithm/algorithm.hpp"
#include "src/api/environment.hpp"
#include "src/plan/palette.hpp"
#include "src/plan/profile.hpp"
#include "tests/dropin/in_child.hpp"

using namespace heptad;

namespace {

bool make_all() {
  (void)process_environment();
  (void)default_profile();  // by hwloc
  palette const all("auto", false);
  return std::ranges::all_of(all.shapes, [](auto const& shape) { return !shape->passes().empty(); });
}

}  // namespace

TEST_CASE("a fork while another thread makes what is kept for the process leaves the child able to") {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  WARN("skipped: the sanitizers' runtimes do not survive a fork beside threads that allocate");
  return;
#endif
  int const rounds = 100;
  int right = 0;
  auto const forks_meanwhile = [&] {
    std::thread first(make_all);
    std::this_thread::sleep_for(std::chrono::microseconds(20 * right));
    bool const done = dropin::in_child(make_all);
    first.join();
    return done;
  };
  while (right < rounds && dropin::in_child(forks_meanwhile)) ++right;
  CHECK(right == rounds);
}
