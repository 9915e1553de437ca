// SPDX-License-Identifier: BSD-3-Clause
#include "src/api/run_prepared.hpp"

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <cmath>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "schedulers/scan.hpp"
#include "src/api/diagnostics.hpp"
#include "src/api/environment.hpp"
#include "src/api/no_memory.hpp"
#include "src/api/scaling.hpp"
#include "src/api/seconds_since.hpp"
#include "src/plan/planner.hpp"
#include "src/plan/range.hpp"

namespace heptad {
namespace {

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
void bind_kit(call_kit& kit, operands<T> const& x, workspace const& memory, run_kind kind) {
  prepared_plan const& prepared = *memory.prepared;
  gemm_operands<T> const bound{x.alpha, x.A, x.B, x.beta, x.C};
  auto* const shared = reinterpret_cast<T*>(memory.shared());
  if (kit.work == nullptr) kit.work = make_executor<T>(prepared.work, prepared.how, bound, shared);
  rebind(*kit.work, bound, shared, kind);
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

/// Runs a prepared plan by the kit, and completes what was announced. Once C is touched nothing is allocated: out of
/// memory leaves C as it was. Any other failure may leave C partly updated, and says so.
template <typename T>
void run(graph_runner const& workers, call_kit& kit, operands<T> const& x, workspace const& memory, run_log& log,
         run_kind kind) {
  prepared_plan const& prepared = *memory.prepared;
  bind_kit(kit, x, memory, kind);
  try {
    log.begin();
    run_result const ran = workers.multiply(prepared, *kit.work, x, memory, &kit.memory);
    log.end({memory.prepared, &prepared.work}, ran, false, kind == run_kind::opened);
  } catch (error const&) {
    throw;
  } catch (std::bad_alloc const&) {
    throw;
  } catch (std::exception const&) {
    throw failed_midway;
  }
}

template <typename T>
void run(graph_runner const& workers, operands<T> const& x, workspace const& memory, run_log& log,
         run_kind kind = run_kind::whole) {
  auto const kit = memory.prepared->kits.take();
  run(workers, *kit, x, memory, log, kind);
}

/// The operands as a plan with levels may meet them, scaled or not, or why it must not meet them.
template <typename T>
struct precautions {
  scaling_kind scaling = scaling_kind::none;
  std::optional<scaled_operands<T>> scaled;
  std::string objection;
};

/// Looks at all of A and B; where the runner opens, the opening passes of the product are run meanwhile.
template <typename T>
precautions<T> take_precautions(context::impl& state, graph_runner const& workers, operands<T> const& x,
                                scaling_kind wish, workspace const& memory, run_log& log) {
  prepared_plan const& prepared = *memory.prepared;
  plan const& how = prepared.how;
  auto const kit = prepared.kits.take();
  bind_kit(*kit, x, memory, run_kind::whole);
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

/// While A and B are not known, what is done with them neither traps exceptions nor raises flags for the caller. The
/// calling thread's: oneTBB's workers have what it has when a run begins.
class held_exceptions {
public:
  held_exceptions() noexcept { std::feholdexcept(&of_caller_); }
  held_exceptions(held_exceptions const&) = delete;
  held_exceptions& operator=(held_exceptions const&) = delete;
  ~held_exceptions() { end(false); }

  /// Raises those so far if what was done is wanted.
  void end(bool wanted) noexcept {
    if (!std::exchange(hold_, false)) return;
    if (wanted) std::feupdateenv(&of_caller_);
    else std::fesetenv(&of_caller_);
  }

private:
  std::fenv_t of_caller_{};
  bool hold_ = true;
};

/// What became of a product that was made before all of A and B was known.
enum class early_product { none, right, doubtful };

/// Where all levels are fused there is no pass over A and B that could look at them, but packing can: then a product
/// that does not read C can be made at once.
template <typename T>
bool can_be_early(graph_runner const& workers, operands<T> const& x, scaling_kind wish, plan const& how) {
  return how.levels.front().kind == level_kind::fused && x.beta == T(0) && workers.opens() &&
         (wish == scaling_kind::automatic || wish == scaling_kind::none);
}

/// None where a sample of A and B speaks against it. C may have to be made again.
template <typename T>
early_product multiply_early(graph_runner const& workers, operands<T> const& x, scaling_kind wish,
                             workspace const& memory, run_log& log, report& r) {
  auto const begin = steady::now();
  prepared_plan const& prepared = *memory.prepared;
  plan const& how = prepared.how;
  bool const may_scale = wish == scaling_kind::automatic;
  auto const kit = prepared.kits.take();
  operand_sample<T> const sample(x, &kit->memory);
  auto const allows = [&](T largest_A, T largest_B) {
    return range_objection(how, x.alpha, x.beta, largest_A, largest_B).empty() &&
           (!may_scale || sample.rules_out_scaling(largest_A, largest_B));
  };
  bool const tells = sample.largest_A() != 0 && sample.largest_B() != 0;  // zeros say nothing of the rest
  if (!tells || !allows(sample.largest_A(), sample.largest_B())) return early_product::none;
  r.precaution_seconds = seconds_since(begin);
  run(workers, *kit, x, memory, log, run_kind::looking);
  try {
    auto const [of_A, of_B] = looked_at<T>(*kit->work);
    if (allows(of_A, of_B)) return early_product::right;
  } catch (std::bad_alloc const&) {
    // There was an objection, and no memory to word it.
  }
  return early_product::doubtful;
}

/// The product by a plan with levels, or where A and B do not allow them by the classical algorithm.
template <typename T>
void run_levels(context::impl& state, graph_runner const& workers, operands<T> const& x, scaling_kind wish,
                workspace memory, run_log& log, report& r) {
  auto const begin = steady::now();
  held_exceptions exceptions;
  bool const early_at_all = can_be_early(workers, x, wish, memory.prepared->how);
  std::atomic<bool>& looks_first = memory.prepared->looks_first[wish == scaling_kind::automatic];
  early_product const early =
      early_at_all && !looks_first ? multiply_early(workers, x, wish, memory, log, r) : early_product::none;
  if (early == early_product::right) return exceptions.end(true);
  bool const made = early == early_product::doubtful;
  try {
    auto const look = steady::now();
    precautions<T> const found = take_precautions(state, workers, x, wish, memory, log);
    bool const right = found.objection.empty() && !found.scaled;
    // A product that stands is none of the precautions.
    r.precaution_seconds = made && right ? r.precaution_seconds + seconds_since(look) : seconds_since(begin);
    if (early_at_all) looks_first = !right;
    exceptions.end(right);
    if (made && right) return;
    if (!found.objection.empty()) {
      double const seconds = r.precaution_seconds;
      memory = {};  // its memory may be what the classical plan needs
      memory = get_classical_workspace(state, r.plan, workers.graphs, {.lanes = workers.lanes});
      announce(memory, r);
      r.precaution_seconds = seconds;
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
      run(workers, x, memory, log, workers.opens() ? run_kind::opened : run_kind::whole);
    }
  } catch (std::bad_alloc const&) {
    if (made) throw no_memory_to_repeat;
    throw;
  } catch (error const& stopped) {
    if (made && stopped.code() == status::out_of_memory) throw no_memory_to_repeat;
    if (made && stopped.code() == status::cancelled)
      throw error(status::cancelled, "the caller's task group was cancelled; C may be partly updated");
    throw;
  }
}

}  // namespace

template <typename T>
void run_prepared(context::impl& state, graph_runner const& workers, operands<T> const& x, scaling_kind wish,
                  workspace memory, report& r) {
  announce(memory, r);
  run_log log(r, std::max(memory.prepared->how.workers, workers.lanes));
  if (memory.prepared->how.levels.empty()) run(workers, x, memory, log);
  else run_levels(state, workers, x, wish, std::move(memory), log, r);
  log.write();
}

template void run_prepared(context::impl&, graph_runner const&, operands<double> const&, scaling_kind, workspace,
                           report&);
template void run_prepared(context::impl&, graph_runner const&, operands<float> const&, scaling_kind, workspace,
                           report&);

}  // namespace heptad
