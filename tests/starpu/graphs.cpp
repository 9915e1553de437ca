// SPDX-License-Identifier: BSD-3-Clause
// Graphs of many tasks on the caller's handles: of random plans, wherever their workspace is, several in flight on the
// same result, and with a device that keeps its own copies. (What a plan for small matrices makes is one task, mostly.)
#include <deque>
#include <string>

#include "schedulers/sequential/sequential.hpp"
#include "tests/starpu/flight.hpp"
#include "tests/tasks/plans.hpp"

using namespace heptad;
using namespace heptad::test;

namespace {

/// The same product four times on the same handles, one after the other, by graphs of several plans.
template <typename T>
std::size_t check_in_turn(std::mt19937& random) {
  plan p = without_zeros(random_plan(random));
  p.type = sizeof(T) == 8 ? element_type::f64 : element_type::f32;
  p.shape.beta_zero = false;
  INFO(describe(p));
  operands<T> x(p, random), expected(x);
  x.share();
  plan whole = p;  // C in one piece
  whole.levels.clear();
  whole.core_m = p.shape.m, whole.core_n = p.shape.n, whole.core_k = p.shape.k, whole.strips = 1;
  plan fresh = p;
  fresh.shape.beta_zero = true;
  std::deque<flight<T>> flights;
  std::size_t tasks = 0;
  auto const next = [&](plan const& how, T alpha, T beta, typename flight<T>::wishes const& w) {
    tasks += flights.emplace_back(how, alpha, beta, w).tasks().size();
    flights.back().submit(x.A.handle, x.B.handle, x.C.handle);
    expected.by_definition(alpha, beta);
  };
  next(p, T(-1), T(2), {workspace::of_the_product, false, false});
  next(p, T(1), T(1), {workspace::of_starpu, false, false});
  next(whole, T(1), T(-1), {workspace::of_starpu, false, false});
  next(p, T(1), T(-1), {workspace::of_starpu, true, false});
  REQUIRE((x.C.release(), x.C.data == expected.C.data));
  x.C.share();
  next(fresh, T(2), T(0), {workspace::of_the_product, true, false});
  next(p, T(1), T(1), {workspace::of_the_product, false, false});
  x.C.release(), x.A.release(), x.B.release();
  starpu_task_wait_for_all();
  REQUIRE((x.C.data == expected.C.data));
  return tasks;
}

}  // namespace

TEST_CASE("graphs of random plans, one after the other on the same handles, equal the definition under every policy") {
  std::mt19937 random(41);
  std::size_t tasks = 0;
  for (char const* policy : {"eager", "lws", "prio", "dmda", "dmdas"}) {
    own_starpu const runtime(policy);
    CAPTURE(policy);
    for (int trial = 0; trial < 12; ++trial)
      tasks += trial % 2 == 0 ? check_in_turn<double>(random) : check_in_turn<float>(random);
  }
  CHECK(tasks > 3000);
}

TEST_CASE("graphs of random plans keep one coherent value of every block on two memory nodes") {
  two_nodes const nodes;
  SKIP_WITHOUT_DEVICE
  std::mt19937 random(43);
  for (int trial = 0; trial < 16; ++trial)
    (void)(trial % 2 == 0 ? check_in_turn<double>(random) : check_in_turn<float>(random));
}

TEST_CASE("updates of C that run in order give the bits of the sequential scheduler, however long tasks take") {
  own_starpu const runtime;
  std::mt19937 random(42);
  // Products into workspace, which passes add to C; and products that are added to C themselves.
  auto const direct = std::make_shared<algorithm const>(sheared());
  plan plans[] = {test::make_plan("TT", "winograd", 40, 44, 36, false), test::make_plan("", "", 40, 44, 36, false)};
  plans[1].levels.assign(2, {direct->name, level_kind::task, direct});
  plans[1].core_m = 40, plans[1].core_n = 44, plans[1].core_k = 36;
  for (plan& p : plans) {
    p.workers = 2, p.slots = 4;
    operands<double> x(p, random);
    for (auto* X : {&x.A, &x.B, &x.C})
      for (double& e : X->data) e = e / 7 + 0.01 * static_cast<double>(random() % 100);
    std::vector<double> wanted;
    {
      graph const g = build_gemm_graph(p, default_profile(), tiling::cells);
      aligned_memory space(static_cast<std::size_t>(g.workspace_elements) * sizeof(double));
      handled_matrix<double> C(x.C);
      auto const body = make_executor<double>(
          g, p,
          {0.7, column_major<double const>(x.A.data.data(), 40, 36, x.A.ld),
           column_major<double const>(x.B.data.data(), 36, 44, x.B.ld), 1.3, column_major(C.data.data(), 40, 44, C.ld)},
          reinterpret_cast<double*>(space.data));
      aligned_memory scratch(body->scratch_bytes());
      run_sequential(g, *body, scratch.data);
      wanted = C.data;
    }
    for (int round = 0; round < 6; ++round)
      for (workspace const where : {workspace::of_the_product, workspace::of_starpu}) {
        operands<double> y(x);
        y.share();
        flight<double> one(p, 0.7, 1.3, {where, true, true});
        one.submit(y.A.handle, y.B.handle, y.C.handle);
        y.C.release();
        starpu_task_wait_for_all();
        INFO(describe(p) << ", round " << round);
        CHECK((y.C.data == wanted));
      }
  }
}
