// SPDX-License-Identifier: BSD-3-Clause
#include "schedulers/ready_state.hpp"

#include <catch2/catch.hpp>

#include "tests/schedulers/hand_made.hpp"

using heptad::ready_state;
using heptad::test::hand_made;

TEST_CASE("the largest priority is taken first, then the first in program order") {
  hand_made x(4);
  x.graph.tasks[0].priority = 1;
  x.graph.tasks[1].priority = 5;
  x.graph.tasks[2].priority = 5;
  x.graph.tasks[3].priority = 9;
  ready_state state(x.graph, x.dependencies);
  CHECK(state.take() == 3);
  CHECK(state.take() == 1);
  CHECK(state.take() == 2);
  CHECK(state.take() == 0);
  CHECK(state.take() == ready_state::none);
}

TEST_CASE("a task becomes ready when its last predecessor completes") {
  hand_made x(3);
  x.edge(0, 2).edge(1, 2);
  ready_state state(x.graph, x.dependencies);
  CHECK(state.ready() == 2);
  CHECK(state.take() == 0);
  CHECK(state.take() == 1);
  state.complete(1);
  CHECK(state.take() == ready_state::none);
  state.complete(0);
  CHECK(state.take() == 2);
}

TEST_CASE("a task whose lock is held parks, lets others pass, and returns when the lock is free") {
  hand_made x(3);
  x.holds(0, {0}).holds(1, {0, 1});
  ready_state state(x.graph, x.dependencies);
  CHECK(state.take() == 0);
  CHECK(state.take() == 2);
  CHECK(state.take() == ready_state::none);
  state.complete(2);
  CHECK(state.take() == ready_state::none);
  state.complete(0);
  CHECK(state.take() == 1);
}

TEST_CASE("a task that finds one of its locks held takes none of the others") {
  hand_made x(3);
  x.holds(0, {1}).holds(1, {0, 1}).holds(2, {0});
  ready_state state(x.graph, x.dependencies);
  CHECK(state.take() == 0);
  CHECK(state.take() == 2);
  state.complete(0);
  CHECK(state.take() == ready_state::none);
  state.complete(2);
  CHECK(state.take() == 1);
}

TEST_CASE("all tasks that are parked on one lock come back, the best one first") {
  hand_made x(4);
  for (int t = 0; t < 4; ++t) x.holds(t, {0});
  ready_state state(x.graph, x.dependencies);
  for (int t = 0; t < 4; ++t) {
    CHECK(state.take() == t);
    CHECK(state.take() == ready_state::none);
    state.complete(t);
  }
}
