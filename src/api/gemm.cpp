// SPDX-License-Identifier: BSD-3-Clause
// One call, from its arguments to its report: check → C column-major → trivial cases → plan → workspace → run → report.
// Nothing here knows an algorithm, a kernel or a thread; it says in which order the parts do their work.
#include "src/api/gemm.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <new>
#include <numeric>
#include <optional>
#include <utility>

#include "schedulers/scan.hpp"
#include "schedulers/starpu/backend.hpp"
#include "src/api/context.hpp"
#include "src/api/diagnostics.hpp"
#include "src/api/environment.hpp"
#include "src/api/graph_runner.hpp"
#include "src/api/no_memory.hpp"
#include "src/api/prepare.hpp"
#include "src/api/present.hpp"
#include "src/api/sampled_check.hpp"
#include "src/api/scaling.hpp"
#include "src/api/unplanned.hpp"
#include "src/plan/planner.hpp"
#include "src/plan/range.hpp"

namespace heptad {
namespace {

using steady = std::chrono::steady_clock;

/// Of the wishes only those that the plan follows from.
plan_key key_of(element_type type, problem const& shape, int threads, options wishes) {
  wishes.scaling = scaling_kind::automatic;
  wishes.check = 0;
  return {type, shape, threads, wishes};
}

template <typename T>
void finish(report& r, operands<T> const& x, steady::time_point begin) {
  r.seconds = std::chrono::duration<double>(steady::now() - begin).count();
  double const flops = 2.0 * static_cast<double>(x.C.rows) * static_cast<double>(x.C.cols) *
                       (x.reads_factors() ? static_cast<double>(x.A.cols) : 0.0);
  if (r.seconds > 0) r.gflops = flops / r.seconds / 1e9;
  double const busy = std::accumulate(r.busy_seconds.begin(), r.busy_seconds.end(), 0.0);
  if (busy > 0) r.idle_fraction = 1 - busy / (static_cast<double>(r.busy_seconds.size()) * r.seconds);
}

/// What can be said of a call before it; of an earlier one only the memory is left.
void announce(workspace const& memory, report& r) {
  prepared_plan const& prepared = *memory.prepared;
  r.plan = prepared.how;
  r.seconds = r.gflops = r.idle_fraction = r.precaution_seconds = 0;
  r.precaution.clear();
  r.scaling = scaling_kind::none;
  r.check.reset();
  r.tasks = prepared.work.tasks.size();
  r.workspace = prepared.bytes();
  r.fell_back = memory.fell_back;
}

template <typename T>
void bind_kit(call_kit& kit, operands<T> const& x, workspace const& memory, bool opened) {
  prepared_plan const& prepared = *memory.prepared;
  gemm_operands<T> const bound{x.alpha, x.A, x.B, x.beta, x.C};
  auto* const shared = reinterpret_cast<T*>(memory.shared());
  if (kit.work == nullptr) kit.work = make_executor<T>(prepared.work, prepared.how, bound, shared);
  rebind(*kit.work, bound, shared, opened);
}

/// The runs of a call so far, for its report and the trace.
class run_log {
public:
  run_log(report& r, int most_workers) : report_(r) {
    r.busy_seconds.clear();
    r.busy_seconds.reserve(static_cast<std::size_t>(most_workers));
  }

  void begin() noexcept { begin_ = steady::now(); }
  /// Allocates nothing but for a trace, or for more workers than were announced; without memory they are not told.
  void end(std::shared_ptr<graph const> work, run_result const& ran, bool looks, bool opened) noexcept {
    try {
      auto& busy = report_.busy_seconds;
      busy.resize(std::max(busy.size(), static_cast<std::size_t>(ran.workers)), 0.0);
      add_busy_seconds(ran, busy);
      if (process_environment().trace.empty()) return;
      run_result kept{{ran.records.begin(), ran.records.end()}, ran.workers, ran.seconds};
      runs_.push_back({std::move(work), std::move(kept), begin_, looks, opened});
    } catch (std::bad_alloc const&) {
    }
  }
  void write() const noexcept { write_trace(process_environment(), runs_); }

private:
  report& report_;
  steady::time_point begin_;
  std::vector<kept_run> runs_;
};

/// Runs a prepared plan and completes what was announced. Once C is touched nothing is allocated: out of memory leaves
/// C as it was. Any other failure may leave C partly updated, and says so. `opened`: but for its opening passes, which
/// have been run.
template <typename T>
void run(graph_runner const& workers, operands<T> const& x, workspace const& memory, run_log& log,
         bool opened = false) {
  prepared_plan const& prepared = *memory.prepared;
  auto const kit = prepared.kits.take();
  bind_kit(*kit, x, memory, opened);
  try {
    log.begin();
    run_result const ran = workers.multiply(prepared, *kit->work, x, memory, &kit->memory);
    log.end({memory.prepared, &prepared.work}, ran, false, opened);
    log.write();
  } catch (error const&) {
    throw;
  } catch (std::bad_alloc const&) {
    throw;
  } catch (std::exception const&) {
    throw failed_midway;
  }
}

/// The operands as a plan with levels may meet them, scaled or not, or why it must not meet them.
template <typename T>
struct precautions {
  scaling_kind scaling = scaling_kind::none;
  std::optional<scaled_operands<T>> scaled;
  std::string objection;
};

/// Looks at A and B, before C is touched; where the runner opens, the opening passes of the product are run meanwhile.
template <typename T>
precautions<T> take_precautions(context::impl& state, graph_runner const& workers, operands<T> const& x,
                                scaling_kind wish, workspace const& memory, run_log& log) {
  prepared_plan const& prepared = *memory.prepared;
  plan const& how = prepared.how;
  auto const kit = prepared.kits.take();
  bind_kit(*kit, x, memory, false);
  operand_scan<T> scan(workers.look_of(prepared), x.A, x.B, kit->work.get(), &kit->memory);
  try {
    log.begin();
    run_result const ran = workers.look(prepared, scan, memory, &kit->memory);
    log.end({memory.prepared, &workers.look_of(prepared).work}, ran, true, false);
  } catch (error const& stopped) {
    if (stopped.code() != status::cancelled) throw;
    throw error(status::cancelled, "the caller's task group was cancelled before C was touched");
  }
  magnitudes<T> const A = scan.of_A(), B = scan.of_B();
  precautions<T> found;
  if (std::isfinite(A.largest) && std::isfinite(B.largest)) found.scaling = choose_scaling(wish, A, B);
  if (found.scaling != scaling_kind::none) {
    std::size_t const bytes = scaled_copy_bytes(x, found.scaling);
    memory_pool::lease copies;
    if (counted_bytes(prepared, state.machine()) + bytes <= how.workspace_cap) copies = state.memory.take(bytes);
    if (copies) found.scaled.emplace(x, found.scaling, A, B, std::move(copies));
    else found.scaling = scaling_kind::none;
  }
  operand_names const names = x.transposed ? operand_names{"B", "A"} : operand_names{};
  found.objection = found.scaled ? range_objection(how, x.alpha, found.scaled->product().beta,
                                                   found.scaled->largest_A(), found.scaled->largest_B(), names)
                                 : range_objection(how, x.alpha, x.beta, A.largest, B.largest, names);
  if (found.scaled && scales_back(found.scaling) && found.objection.empty()) {
    double const errors = unit_roundoff(how.type) * bound_after(found.scaling) * how.bound;
    found.objection =
        scaling_objection(how.type, x.alpha, x.beta, A.largest, B.largest, static_cast<double>(how.shape.k) + errors);
  }
  return found;
}

/// The product by the plan, or where A and B do not allow its levels by the classical algorithm.
template <typename T>
void run_with_precautions(context::impl& state, graph_runner const& workers, operands<T> const& x, scaling_kind wish,
                          workspace memory, report& r) {
  announce(memory, r);
  run_log log(r, std::max(memory.prepared->how.workers, workers.lanes));
  if (memory.prepared->how.levels.empty()) return run(workers, x, memory, log);
  auto const begin = steady::now();
  precautions<T> const found = take_precautions(state, workers, x, wish, memory, log);
  double const seconds = std::chrono::duration<double>(steady::now() - begin).count();
  if (!found.objection.empty()) {
    memory = {};  // its memory may be what the classical plan needs
    memory = get_classical_workspace(state, r.plan, workers.graphs, {.lanes = workers.lanes});
    announce(memory, r);
    r.plan.reason = "classical: " + found.objection;
    r.precaution = found.objection;
    run(workers, x, memory, log);
  } else if (found.scaled) {
    run(workers, found.scaled->product(), memory, log);
    found.scaled->finish();
    r.scaling = found.scaling;
    r.workspace += scaled_copy_bytes(x, found.scaling);
    r.plan.bound *= bound_after(found.scaling);
    r.plan.likely_bound *= bound_after(found.scaling);
  } else {
    run(workers, x, memory, log, workers.opens());
  }
  r.precaution_seconds = seconds;
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
  run_with_precautions(state, workers, x, scaling, std::move(memory), r);
  double const seconds = std::chrono::duration<double>(steady::now() - begin).count();
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
      run_with_precautions(state, who, x, wishes.scaling, get_workspace(state, key, {.lanes = lanes}), r);
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
    run_with_precautions(state, {*group}, x, scaling_kind::automatic,
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
