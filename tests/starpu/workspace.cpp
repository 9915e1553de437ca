// SPDX-License-Identifier: BSD-3-Clause
// Plans for graphs in cells under a cap on their workspace.
#include "src/api/context.hpp"
#include "src/api/prepare.hpp"
#include "tests/starpu/runtime.hpp"

using namespace heptad;

TEST_CASE("a cap on the workspace leaves a graph in cells the levels that fit under it") {
  heptad::context workers(2);
  context::impl& state = workers.state();
  plan_key key{element_type::f64, {3072, 3072, 3072}, 2, {}};
  std::size_t const of_C = 3072 * 3072 * sizeof(double);
  int corrected = 0;
  for (int percent = 100; percent <= 600; percent += 10) {
    std::size_t const cap = of_C * static_cast<std::size_t>(percent) / 100;
    INFO("cap of " << percent << " % of C");
    key.wishes.max_workspace = cap;
    key.wishes.scheduler = scheduler_kind::tbb;
    auto const strips = prepare(state, key);
    key.wishes.scheduler = scheduler_kind::starpu;
    auto const cells = prepare(state, key);
    CHECK(cells->bytes() <= cap);
    CHECK(cells->how.workspace_cap == cap);
    // Cells need less than three times the workspace. (How much less is asked for is a guess that may cost a little.)
    key.wishes.max_workspace = cap / 3;
    key.wishes.scheduler = scheduler_kind::tbb;
    CHECK(cells->how.seconds <= 1.1 * prepare(state, key)->how.seconds);
    corrected += same_choices(strips->how, cells->how) ? 0 : 1;
  }
  CHECK(corrected > 0);
}
