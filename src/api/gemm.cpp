// SPDX-License-Identifier: BSD-3-Clause
// One call, from its arguments to its report: check → C column-major → trivial cases → plan → workspace → run → report.
// Nothing here knows an algorithm, a kernel or a thread; it says in which order the parts do their work.
#include "src/api/gemm.hpp"

#include <algorithm>
#include <new>
#include <numeric>
#include <optional>
#include <utility>

#include "schedulers/starpu/backend.hpp"
#include "src/api/context.hpp"
#include "src/api/diagnostics.hpp"
#include "src/api/environment.hpp"
#include "src/api/graph_runner.hpp"
#include "src/api/no_memory.hpp"
#include "src/api/prepare.hpp"
#include "src/api/present.hpp"
#include "src/api/run_prepared.hpp"
#include "src/api/sampled_check.hpp"
#include "src/api/seconds_since.hpp"
#include "src/api/unplanned.hpp"
#include "src/api/worker_group.hpp"
#include "src/plan/planner.hpp"

namespace heptad {
namespace {

/// Of the wishes only those that the plan follows from.
plan_key key_of(element_type type, problem const& shape, int threads, options wishes) {
  wishes.scaling = scaling_kind::automatic;
  wishes.check = 0;
  return {type, shape, threads, wishes};
}

template <typename T>
void finish(report& r, operands<T> const& x, steady::time_point begin) {
  r.seconds = seconds_since(begin);
  double const flops = 2.0 * static_cast<double>(x.C.rows) * static_cast<double>(x.C.cols) *
                       (x.reads_factors() ? static_cast<double>(x.A.cols) : 0.0);
  if (r.seconds > 0) r.gflops = flops / r.seconds / 1e9;
  double const busy = std::accumulate(r.busy_seconds.begin(), r.busy_seconds.end(), 0.0);
  if (busy > 0) r.idle_fraction = 1 - busy / (static_cast<double>(r.busy_seconds.size()) * r.seconds);
}

/// One call of those that take turns between two plans, or with the plan that has won.
template <typename T>
report multiply_refined(context::impl& state, graph_runner const& workers, operands<T> const& x, plan_key const& key,
                        scaling_kind scaling) {
  machine_profile const& machine = state.machine();
  auto const trial = state.refined.next(key, machine, [&] { return alternatives(state, key, 2, 1); });
  options wishes = key.wishes;
  wishes.scheduler = workers.graphs;
  workspace memory = get_workspace(state, trial.how, key.workers, wishes, {.lanes = workers.lanes});
  bool const complete = !memory.fell_back;
  auto const begin = steady::now();
  report r;
  run_prepared(state, workers, x, scaling, std::move(memory), r);
  double const seconds = seconds_since(begin);
  bool const as_planned = complete && r.precaution.empty();
  try {
    if (as_planned) state.refined.tell(key, machine, trial, seconds);
    if (r.precaution.empty()) r.plan.reason = trial.how.reason;  // which may be newer than the graph
  } catch (std::bad_alloc const&) {
    // The product is done; another one will teach the same.
  }
  return r;
}

}  // namespace

template <typename T>
report multiply(context& workers, operands<T> const& given, options const& wishes_given) try {
  auto const begin = steady::now();
  environment const& env = process_environment();
  context::impl& state = workers.state();
  options const wishes = with_defaults(wishes_given, state.defaults);
  check_options(wishes, type_of<T>);
  operands<T> const x = present(given);
  std::optional<sampled_check<T>> check;
  if (wishes.check > 0) check.emplace(x, wishes.check);

  auto const group = state.workers();
  int threads = wishes.scheduler == scheduler_kind::sequential || without_workers() ? 1 : group->threads();
  report r;
  if (!x.reads_factors()) {
    r = scale_only(x);
  } else if (is_small(shape_of(x), wishes.deterministic ? state.machine().cores : threads) &&
             wishes.force_levels <= 0) {
    r = multiply_small(state, x, wishes);
  } else {
    scheduler_kind graphs = wishes.scheduler;
    if (wishes.scheduler == scheduler_kind::starpu && !without_workers()) {
      threads = find_starpu_backend().workers(threads);
      if (!find_starpu_backend().moves_data()) graphs = scheduler_kind::tbb;
    }
    plan_key key = key_of(type_of<T>, shape_of(x), threads, wishes);
    int const lanes = wishes.scheduler == scheduler_kind::starpu ? threads : 0;  // StarPU decides itself who works
    graph_runner const who{*group, wishes.scheduler, graphs, lanes};
    if (wishes.refine && !wishes.deterministic) {
      r = multiply_refined(state, who, x, key, wishes.scaling);
    } else {
      key.wishes.scheduler = graphs;
      run_prepared(state, who, x, wishes.scaling, get_workspace(state, key, {.lanes = lanes}), r);
    }
  }
  if (check) r.check = check->judge(r.plan);
  finish(r, x, begin);
  print_line(env, r);
  return r;
} catch (std::bad_alloc const&) {
  throw no_memory;
}

template <typename T>
report gemm(context& workers, T alpha, matrix_view<T const> A, matrix_view<T const> B, T beta, matrix_view<T> C,
            options const& wishes) try {
  operands<T> const x{alpha, A, B, beta, C};
  check_operands(x);
  return multiply(workers, x, wishes);
} catch (std::bad_alloc const&) {
  throw no_memory;
}

template <typename T>
void gemm(context& workers, plan const& how, T alpha, matrix_view<T const> A, matrix_view<T const> B, T beta,
          matrix_view<T> C, report& told) try {
  auto const begin = steady::now();
  environment const& env = process_environment();
  operands<T> const given{alpha, A, B, beta, C};
  check_operands(given);
  operands<T> const x = present(given);
  check_plan(how, type_of<T>, shape_of(x));
  context::impl& state = workers.state();
  auto const group = state.workers();
  if (x.reads_factors())
    run_prepared(state, {*group}, x, scaling_kind::automatic,
                 get_workspace(state, how, group->threads(), wishes_of(how)), told);
  else told = scale_only(x);
  finish(told, x, begin);
  print_line(env, told);
} catch (std::bad_alloc const&) {
  throw no_memory;
}

template <typename T>
report gemm(context& workers, plan const& how, T alpha, matrix_view<T const> A, matrix_view<T const> B, T beta,
            matrix_view<T> C) {
  report told;
  gemm(workers, how, alpha, A, B, beta, C, told);
  return told;
}

template <typename T>
plan make_plan(context& workers, problem const& shape, options const& wishes_given) try {
  context::impl& state = workers.state();
  options wishes = with_defaults(wishes_given, state.defaults);
  check_problem(shape, sizeof(T));
  check_options(wishes, type_of<T>);
  if (wishes.scheduler == scheduler_kind::starpu) wishes.scheduler = scheduler_kind::tbb;  // the graphs are the same
  int const threads = wishes.scheduler == scheduler_kind::sequential ? 1 : workers.threads();
  plan p = prepare(state, key_of(type_of<T>, present(shape), threads, wishes))->how;
  measure_candidates(state, p, wishes.scheduler);
  return p;
} catch (std::bad_alloc const&) {
  throw no_memory;
}

#define HEPTAD_FOR(T)                                                                                         \
  template report multiply(context&, operands<T> const&, options const&);                                     \
  template HEPTAD_API report gemm(context&, T, matrix_view<T const>, matrix_view<T const>, T, matrix_view<T>, \
                                  options const&);                                                            \
  template HEPTAD_API report gemm(context&, plan const&, T, matrix_view<T const>, matrix_view<T const>, T,    \
                                  matrix_view<T>);                                                            \
  template HEPTAD_API void gemm(context&, plan const&, T, matrix_view<T const>, matrix_view<T const>, T,      \
                                matrix_view<T>, report&);                                                     \
  template HEPTAD_API plan make_plan<T>(context&, problem const&, options const&);
HEPTAD_FOR(double)
HEPTAD_FOR(float)
#undef HEPTAD_FOR

}  // namespace heptad
