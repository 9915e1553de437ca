// SPDX-License-Identifier: BSD-3-Clause
// Of several global_controls oneTBB follows the least: contexts must not take workers from each other.
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <optional>
#include <thread>
#include <vector>

#include <heptad/heptad.hpp>

using heptad::context;

namespace {

int allowed() {
  using control = oneapi::tbb::global_control;
  return static_cast<int>(control::active_value(control::max_allowed_parallelism));
}

}  // namespace

TEST_CASE("a context with a few more threads than cores takes none from a larger one, whichever comes or goes first") {
  int const cores = oneapi::tbb::info::default_concurrency(), before = allowed();
  std::optional<context> small, large;
  if (GENERATE(true, false)) {
    small.emplace(cores + 1);
    CHECK(allowed() == std::max(before, cores + 1));
    large.emplace(cores + 6);
  } else {
    large.emplace(cores + 6);
    small.emplace(cores + 1);
  }
  CHECK(allowed() == std::max(before, cores + 6));
  if (GENERATE(true, false)) {
    large.reset();
    CHECK(allowed() == std::max(before, cores + 1));
    small.reset();
  } else {
    small.reset();
    CHECK(allowed() == std::max(before, cores + 6));
    large.reset();
  }
  CHECK(allowed() == before);
}

TEST_CASE("contexts that come and go in several threads leave a larger one its workers") {
  int const cores = oneapi::tbb::info::default_concurrency();
  context const large(cores + 6);
  std::atomic<int> taken = 0;
  std::vector<std::thread> threads;
  for (int i = 1; i <= 4; ++i) {
    threads.emplace_back([=, &taken] {
      for (int round = 0; round < 50; ++round) {
        context const small(cores + i);
        if (allowed() < cores + 6) ++taken;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  CHECK(taken == 0);
  CHECK(allowed() >= cores + 6);
}
