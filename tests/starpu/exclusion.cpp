// SPDX-License-Identifier: BSD-3-Clause
// Updates that exclude each other, on StarPU's workers, by tasks that stay long enough to meet.
#include <atomic>
#include <chrono>
#include <thread>

#include "schedulers/starpu/backend.hpp"
#include "tests/schedulers/hand_made.hpp"
#include "tests/starpu/runtime.hpp"

using namespace heptad;
using namespace heptad::test;

TEST_CASE("tasks with a common lock never overlap on StarPU, and all of them run") {
  own_starpu const runtime;
  hand_made x(120);
  numbers random(3);
  for (int t = 0; t < 120; ++t) {
    int const first = random.below(2);
    x.holds(t, random.below(4) == 0 ? std::vector<int>{first, first + 1} : std::vector<int>{first});
  }
  overlap_count count(x.dependencies);
  std::atomic<int> ran = 0;
  calling_executor const work(x.graph, [&](int t, std::byte*) {
    count.enter(t);
    std::this_thread::sleep_for(std::chrono::microseconds(300));  // others would come in meanwhile
    count.leave(t);
    ++ran;
  });
  bound_product product;
  product.work = &x.graph, product.order = &x.dependencies, product.body = &work;
  product.scratch = [](int) { return nullptr; };
  run_result const result = heptad_starpu_backend()->run(product);
  CHECK(count.overlaps() == 0);
  CHECK(ran == 120);
  CHECK(result.records.size() == 120);
}
