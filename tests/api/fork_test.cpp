// SPDX-License-Identifier: BSD-3-Clause
// A fork while another thread makes what is kept for the process.
#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "codelets/cpu/kernel_set.hpp"
#include "schedulers/cuda/backend.hpp"
#include "schedulers/starpu/backend.hpp"
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

bool is_loaded_or_missing(void (*find)()) {
  try {
    find();
    return true;
  } catch (error const& missing) {
    return missing.code() == status::invalid_argument;
  }
}

bool load_libraries() {
  for (auto const* set : cpu::kernel_sets<double>()) (void)set->available();  // BLIS's
  return is_loaded_or_missing([] { (void)find_starpu_backend(); }) &&
         is_loaded_or_missing([] { (void)find_cuda_backend(); });
}

/// Forks once in each of many processes that have made nothing, later and later, while another thread makes it.
void fork_meanwhile(bool (*make)()) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  WARN("skipped: the sanitizers' runtimes do not survive a fork beside threads that allocate");
  return;
#endif
  int const rounds = 100;
  int right = 0;
  auto const forks = [&] {
    std::thread first(make);
    std::this_thread::sleep_for(std::chrono::microseconds(20 * right));
    bool const done = dropin::in_child(make);
    first.join();
    return done;
  };
  while (right < rounds && dropin::in_child(forks)) ++right;
  CHECK(right == rounds);
}

}  // namespace

TEST_CASE("a fork while another thread makes what is kept for the process leaves the child able to") {
  fork_meanwhile(make_all);
}

TEST_CASE("a fork while another thread loads libraries leaves the child able to") { fork_meanwhile(load_libraries); }
