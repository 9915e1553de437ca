// SPDX-License-Identifier: BSD-3-Clause
// What holds of every plan, and the plans that known machines must get.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "src/algorithm/algorithm.hpp"
#include "src/plan/plan_json.hpp"
#include "src/plan/planner.hpp"
#include "src/plan/search_space.hpp"
#include "tests/plan/machines.hpp"

using namespace heptad;

namespace {

constexpr std::size_t plenty = std::size_t{64} << 30;

problem square(std::int64_t n) {
  problem p{n, n, n};
  p.beta_zero = true;
  return p;
}

plan f64_plan(problem const& shape, int workers = 1, options const& wishes = {},
              machine_profile const& machine = test::zen4()) {
  return choose_plan(element_type::f64, shape, workers, plenty, machine, wishes);
}

int count(plan const& p, level_kind kind) {
  return static_cast<int>(
      std::count_if(p.levels.begin(), p.levels.end(), [&](plan_level const& l) { return l.kind == kind; }));
}

/// How often the levels halve the sides, in the mean of the three: <4,4,2> does 5/3 times.
double halvings(plan const& p) {
  double blocks = 1;
  for (plan_level const& l : p.levels) blocks *= double(l.coefficients->m) * l.coefficients->k * l.coefficients->n;
  return std::log2(blocks) / 3;
}

std::string failure(problem const& shape, int workers, options const& wishes) {
  try {
    f64_plan(shape, workers, wishes);
  } catch (error const& e) {
    CHECK(e.code() == status::invalid_argument);
    return e.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("the same arguments give the same plan") {
  for (int workers : {1, 2, 7}) {
    auto const once = plan_to_json(f64_plan(square(3001), workers));
    CHECK(once == plan_to_json(f64_plan(square(3001), workers)));
  }
}

TEST_CASE("larger products are divided further, as far as levels of Strassen paid on a Zen 4") {
  CHECK(halvings(f64_plan(square(800))) > 0.9);
  CHECK(halvings(f64_plan(square(800))) < 1.5);
  CHECK(halvings(f64_plan(square(1024))) > 1.5);
  CHECK(halvings(f64_plan(square(2048))) > 1.9);
  CHECK(halvings(f64_plan(square(4096))) > 2.6);
  CHECK(halvings(f64_plan(square(8192))) > 3.6);
  CHECK(halvings(f64_plan(square(4096), 2)) > 2.6);
  CHECK(halvings(f64_plan(square(8192), 2)) > 3.6);
}

TEST_CASE("slower memory never asks for much smaller leaves") {
  for (std::int64_t n : {512, 1024, 2048, 4096, 8192}) {
    CAPTURE(n);
    CHECK(halvings(f64_plan(square(n), 1, {}, test::server())) <= halvings(f64_plan(square(n))) + 0.5);
  }
}

TEST_CASE("tiny and thin products are classical") {
  for (int workers : {1, 2, 8})
    for (problem const shape :
         {square(0), square(1), square(64), square(200), problem{8192, 8192, 32}, problem{8192, 3, 8192},
          problem{1, 8192, 8192}, problem{4096, 0, 4096}, problem{100000, 100, 50}}) {
      plan const p = f64_plan(shape, workers);
      CAPTURE(shape.m, shape.n, shape.k, workers);
      CHECK(p.levels.empty());
      CHECK(p.core_m == shape.m);
      CHECK(p.growth == 1);
      CHECK_FALSE(p.reason.empty());
    }
}

TEST_CASE("a plan is classical only where no other gains enough, also where the frugal one of two that tie does not") {
  int divided = 0, classical = 0;
  for (machine_profile const& machine : {test::zen4(), test::server()})
    for (std::int64_t n = 256; n <= 2000; n += 8) {
      plan const p = f64_plan(square(n), 1, {}, machine);
      (p.levels.empty() ? classical : divided)++;
      if (!p.levels.empty()) continue;
      for (candidate const& c : p.candidates) {
        INFO(n << ", " << c.description << ": " << c.verdict);
        CHECK((c.how->levels.empty() || c.seconds > 0.97 * p.classical_seconds));
      }
    }
  CHECK(divided > 100);
  CHECK(classical > 10);
}

TEST_CASE("levels divide the core and leave less than one block beyond it") {
  for (auto const& [m, n, k] : {std::tuple{4095, 4097, 4099}, {5003, 3001, 7001}, {2000, 9000, 500}}) {
    for (int workers : {1, 2}) {
      plan const p = f64_plan({m, n, k}, workers);
      std::int64_t blocks_m = 1, blocks_n = 1, blocks_k = 1;
      for (plan_level const& l : p.levels) {
        blocks_m *= l.coefficients->m;
        blocks_n *= l.coefficients->n;
        blocks_k *= l.coefficients->k;
      }
      auto const core = [](std::int64_t side, std::int64_t blocks, bool pads) {
        return (pads ? side + blocks - 1 : side) / blocks * blocks;
      };
      CHECK(p.core_m == core(m, blocks_m, p.pads.m));
      CHECK(p.core_n == core(n, blocks_n, p.pads.n));
      CHECK(p.core_k == core(k, blocks_k, p.pads.k));
    }
  }
}

TEST_CASE("sides are filled up with zeros where that costs less than fringes, and a runtime's operands may have them") {
  auto const plan_of = [](std::int64_t side, options const& wishes = {}) { return f64_plan(square(side), 1, wishes); };
  plan const odd = plan_of(4095);
  CHECK(odd.pads == padding{true, true, true});
  CHECK(odd.core_k == 4096);
  CHECK(odd.seconds < plan_of(4096).seconds * 1.01);
  CHECK(plan_of(4096).pads == padding{});
  int padded = 0, cut = 0;
  for (int const levels : {2, 6})
    for (std::int64_t k : {1001, 1022, 1025, 2049}) {
      options forced;
      forced.force_levels = levels;
      plan const chosen = f64_plan({1024, 1024, k}, 1, forced);
      if (chosen.core_k == k) continue;
      plan other = chosen;
      other.pads.k = !chosen.pads.k;
      complete_plan(other, test::zen4());
      CAPTURE(levels, k);
      CHECK(chosen.seconds <= other.seconds);
      ++(chosen.pads.k ? padded : cut);
    }
  CHECK(padded > 3);
  CHECK(cut > 0);
  // The zeros of m and n take workspace: a cap that leaves none for them leaves the levels as they were.
  options capped;
  capped.algorithm = "strassen";
  capped.max_workspace = plan_of(4080, capped).workspace + (4 << 20);
  plan const in_less = plan_of(4095, capped);
  CHECK(in_less.workspace <= *capped.max_workspace);
  CHECK(in_less.levels.size() == plan_of(4080, capped).levels.size());
  CHECK_FALSE(in_less.pads.m);
  options fixed, moved;
  fixed.deterministic = true;
  moved.scheduler = scheduler_kind::starpu;
  for (options const& wishes : {fixed, moved}) {
    CHECK(plan_of(4095, wishes).pads == padding{});
    CHECK(plan_of(4095, wishes).core_k < 4095);
  }
}

TEST_CASE("levels go task, explicit, fused, and one worker gets no task levels") {
  for (int workers : {1, 2, 8})
    for (std::int64_t n : {1024, 2048, 4096, 8192}) {
      plan const p = f64_plan(square(n), workers);
      CHECK(std::is_sorted(p.levels.begin(), p.levels.end(),
                           [](plan_level const& a, plan_level const& b) { return a.kind < b.kind; }));
      if (workers == 1) CHECK(count(p, level_kind::task) == 0);
    }
  CHECK(count(f64_plan(square(8192), 2), level_kind::task) >= 2);
  CHECK(count(f64_plan(square(8192), 8), level_kind::task) >= 2);
}

TEST_CASE("max_levels and algorithm are respected") {
  options o;
  for (o.max_levels = 0; o.max_levels <= 3; ++o.max_levels)
    CHECK(f64_plan(square(8192), 2, o).levels.size() <= static_cast<std::size_t>(o.max_levels));
  o = {};
  o.algorithm = "classical";
  CHECK(f64_plan(square(8192), 1, o).levels.empty());
  for (char const* name : {"strassen", "winograd", "huang323"}) {
    o.algorithm = name;
    plan const p = f64_plan(square(6144), 1, o);
    CHECK_FALSE(p.levels.empty());
    for (plan_level const& l : p.levels) CHECK(l.name == name);
  }
}

TEST_CASE("force_levels makes so many levels, or as many as the dimensions allow") {
  options o;
  for (int workers : {1, 3})
    for (o.force_levels = 0; o.force_levels <= 5; ++o.force_levels)
      CHECK(f64_plan(square(300), workers, o).levels.size() == static_cast<std::size_t>(o.force_levels));
  o.force_levels = 9;
  CHECK(f64_plan({64, 33, 8}, 1, o).levels.size() == 3);
  CHECK(f64_plan({64, 64, 1}, 1, o).levels.empty());
  o.max_levels = 2;
  CHECK(f64_plan(square(300), 1, o).levels.size() == 2);
}

TEST_CASE("max_error caps the expected growth, or the proved one when guaranteed") {
  options o;
  for (double most : {1.0, 2.0, 2.4, 5.0, 30.0, 100.0}) {
    o.max_error = most;
    plan const p = f64_plan(square(8192), 2, o);
    CHECK(p.growth <= most);
    CHECK(p.levels.empty() == (most == 1));
  }
  o.guaranteed = true;
  for (double most : {1.0, 4.0, 50.0, 1000.0}) {
    o.max_error = most;
    plan const p = f64_plan(square(8192), 2, o);
    CHECK(p.bound <= most * 8192.0 * 8195.0 * 1.0001);
    CHECK(p.levels.empty() == (most == 1));
  }
}

TEST_CASE("the workspace keeps to its cap, and a large one is used") {
  double const operands = 3.0 * 4096 * 4096 * 8;
  for (int workers : {1, 2, 4}) {
    CHECK(static_cast<double>(f64_plan(square(4096), workers).workspace) <= 2 * operands);
    options o;
    std::size_t before = 0;
    for (double fraction : {0.1, 0.3, 0.5, 1.0, 2.0}) {
      o.max_workspace = static_cast<std::size_t>(fraction * operands);
      plan const p = f64_plan(square(4096), workers, o);
      CHECK(p.workspace <= *o.max_workspace);
      CHECK(p.workspace_cap == *o.max_workspace);
      CHECK(p.workspace >= before / 2);
      CHECK_FALSE(p.levels.empty());
      before = p.workspace;
    }
    CHECK(static_cast<double>(before) > operands);
  }
  // Half of what is free, when that is less.
  plan const p = choose_plan(element_type::f64, square(4096), 1, 100'000'000, test::zen4(), {});
  CHECK(p.workspace <= 50'000'000);
  CHECK_FALSE(p.levels.empty());
}

TEST_CASE("no cap on the workspace makes a plan slower than no workspace at all") {
  for (problem shape : {square(4096), square(8192)})
    for (bool const beta_zero : {true, false})
      for (int const workers : {1, 2, 8}) {
        shape.beta_zero = beta_zero;
        options o;
        o.max_workspace = 0;
        double const without = f64_plan(shape, workers, o).seconds;
        for (double bytes = 8.0 * static_cast<double>(shape.m) * static_cast<double>(shape.n) * 6; bytes > 1e6;
             bytes *= 0.8) {
          o.max_workspace = static_cast<std::size_t>(bytes);
          CAPTURE(shape.m, beta_zero, workers, bytes);
          CHECK(f64_plan(shape, workers, o).seconds <= 1.03 * without);  // a tie is broken by accuracy
        }
      }
}

TEST_CASE("a cap on the workspace makes no plan slower than a tighter one does") {
  machine_profile machine = default_profile();
  machine.l2_bytes = 512 << 10, machine.l3_bytes = 32 << 20;
  for (std::int64_t const n : {8192, 16384})
    for (int const workers : {8, 64}) {
      double const operands = 3.0 * 8 * static_cast<double>(n) * static_cast<double>(n);
      double tighter = 1e300;
      for (double const fraction : {0.06, 0.12, 0.25, 0.5, 1.0, 2.0}) {
        options o;
        o.max_workspace = static_cast<std::size_t>(fraction * operands);
        CAPTURE(n, workers, fraction, tighter);
        double const seconds = f64_plan(square(n), workers, o, machine).seconds;
        CHECK(seconds <= 1.03 * tighter);  // a tie is broken by accuracy
        tighter = std::min(tighter, seconds);
      }
    }
}

TEST_CASE("without workspace all levels are fused and nothing gathers the products") {
  options o;
  o.max_workspace = 0;
  for (int workers : {1, 2}) {
    plan const p = f64_plan(square(4096), workers, o);
    CHECK_FALSE(p.levels.empty());
    CHECK(count(p, level_kind::fused) == static_cast<int>(p.levels.size()));
    CHECK_FALSE(p.product_buffer);
  }
}

TEST_CASE("a deterministic plan does not depend on the number of workers") {
  options o;
  o.deterministic = true;
  for (problem const shape : {square(512), square(1024), square(4096), problem{8192, 8192, 1024}}) {
    plan const one = f64_plan(shape, 1, o);
    for (int workers : {2, 3, 8, 64}) {
      plan const many = f64_plan(shape, workers, o);
      CHECK(many.workers == workers);
      CHECK(many.deterministic);
      CHECK(many.slots == one.slots);
      CHECK(many.independent == one.independent);
      CHECK(many.strips == one.strips);
      CHECK(many.product_buffer == one.product_buffer);
      REQUIRE(many.levels.size() == one.levels.size());
      for (std::size_t i = 0; i < one.levels.size(); ++i) {
        CHECK(many.levels[i].name == one.levels[i].name);
        CHECK(many.levels[i].kind == one.levels[i].kind);
      }
    }
  }
}

TEST_CASE("bad arguments are refused with their name and value") {
  using Catch::Matchers::Contains;
  options o;
  CHECK_THAT(failure({-1, 2, 3}, 1, o), Contains("m = -1"));
  CHECK_THAT(failure({1, -2, 3}, 1, o), Contains("n = -2"));
  CHECK_THAT(failure({1, 2, -3}, 1, o), Contains("k = -3"));
  CHECK_THAT(failure({1, 2, 3}, 0, o), Contains("workers = 0"));
  o.max_error = 0.5;
  CHECK_THAT(failure({1, 2, 3}, 1, o), Contains("max_error = 0.5"));
  o.max_error = std::numeric_limits<double>::quiet_NaN();
  CHECK_THAT(failure({1, 2, 3}, 1, o), Contains("max_error"));
  o = {};
  o.algorithm = "coppersmith";
  CHECK_THAT(failure({1, 2, 3}, 1, o), Contains("algorithm = 'coppersmith'"));
}

TEST_CASE("a plan tells what was considered and why it was declined") {
  options o;
  o.max_error = 10;
  plan const p = f64_plan(square(8192), 1, o);
  REQUIRE(p.candidates.size() >= 3);
  CHECK(p.candidates.size() <= 12);
  CHECK(p.candidates.front().verdict == "chosen");
  CHECK(std::any_of(p.candidates.begin(), p.candidates.end(),
                    [](candidate const& c) { return c.verdict.find("max_error") != std::string::npos; }));
  CHECK(p.candidates.back().description.find("classical") == 0);
  CHECK_FALSE(p.reason.empty());
}

TEST_CASE("the largest sizes are planned without overflow") {
  plan const p = f64_plan({1'000'000'000, 1'000'000'000, 1'000'000'000}, 4);
  CHECK(p.seconds > 0);
  CHECK(p.core_m <= 1'000'000'000);
}

TEST_CASE("planning looks at few blocks, whatever the size") {
  palette const all("auto");
  machine_profile const machine = test::zen4();
  for (int workers : {1, 2, 64})
    for (std::int64_t n : {1024, 8192, 100'000, 10'000'000}) {
      search_result const found = search(all, element_type::f64, square(n), workers, machine, {}, 24);
      CAPTURE(workers, n, found.blocks, found.prices, found.outlines.size());
      CHECK(found.outlines.size() <= 24 * 8);
      CHECK(found.prices <= 10'000);
    }
}

TEST_CASE("more workers are never predicted to be slower") {
  for (std::int64_t n : {1024, 4096, 8192}) {
    double before = f64_plan(square(n), 1).seconds;
    for (int workers : {2, 4, 8}) {
      double const now = f64_plan(square(n), workers).seconds;
      CHECK(now <= 1.02 * before);
      before = now;
    }
  }
}

TEST_CASE("strips spare two workers the round in which one of them has no product") {
  outline o;
  o.levels = {{&know(find_algorithm("winograd")), level_kind::task},
              {&know(find_algorithm("strassen")), level_kind::fused}};
  auto const seconds = [&] { return predict(element_type::f64, square(2048), 2, test::server(), o).seconds; };
  double const whole = seconds();
  o.strips = 2;
  CHECK(seconds() < 0.95 * whole);
  CHECK(seconds() > 0.85 * whole);
}

TEST_CASE("many workers get as many products at once as keep them busy") {
  machine_profile machine = test::server();
  machine.cores = 64;
  for (pass_rate& p : machine.passes) p.gbytes_all = 20 * p.gbytes;
  plan const p = f64_plan(square(16384), 64, {}, machine);
  CHECK(count(p, level_kind::task) > 0);
  CHECK(p.seconds < 0.9 * p.classical_seconds);
}

TEST_CASE("the classical product of many workers has strips that the others take over from a late one") {
  options classical;
  classical.max_levels = 0;
  for (int const workers : {1, 2, 4}) CHECK(f64_plan(square(4096), workers, classical).strips == workers);
  plan const p = f64_plan(square(4096), 16, classical);
  CHECK(p.strips > 16);
  CHECK(p.strips % 16 == 0);
  CHECK(f64_plan(square(256), 16, classical).strips <= 16);  // too short for more
}
