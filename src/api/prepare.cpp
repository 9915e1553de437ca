// SPDX-License-Identifier: BSD-3-Clause
// Plan, graph and workspace, and the way down when memory is short.
#include "src/api/prepare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "codelets/cpu/kernel_set.hpp"
#include "schedulers/executor.hpp"
#include "src/api/arguments.hpp"
#include "src/matrix/reject.hpp"
#include "src/plan/device_blocks.hpp"
#include "src/plan/planner.hpp"
#include "tasks/gemm_graph.hpp"
#include "tasks/priorities.hpp"

namespace heptad {
namespace {

// Areas of different workers share no page.
std::size_t whole_pages(std::size_t bytes) { return (bytes + 4095) / 4096 * 4096; }

template <typename T>
std::size_t scratch_of(prepared_plan const& p) {
  return make_executor<T>(p.work, p.how, gemm_operands<T>{}, nullptr)->scratch_bytes();
}

void name_kernels(plan& p) {
  if (!p.kernel.empty() && p.kernel != "auto") return;
  p.kernel = p.type == element_type::f64 ? cpu::best_kernel_set<double>().name : cpu::best_kernel_set<float>().name;
}

/// All but the order of the tasks.
std::shared_ptr<prepared_plan> build_graph(plan how, machine_profile const& machine, scheduler_kind scheduler) {
  auto p = std::make_shared<prepared_plan>();
  p->how = std::move(how);
  name_kernels(p->how);
  // The bits follow from the graph: a deterministic one is cut for the whole machine, whatever part of it works.
  plan cut = p->how;
  if (cut.deterministic) cut.workers = machine.cores;
  p->cut = needs_cells(cut.deterministic, scheduler) ? tiling::cells : tiling::strips;
  p->work = build_gemm_graph(cut, machine, p->cut);
  bool const f64 = p->how.type == element_type::f64;
  p->shared_bytes =
      whole_pages(static_cast<std::size_t>(p->work.workspace_elements) * (f64 ? sizeof(double) : sizeof(float)));
  p->scratch_bytes = whole_pages(f64 ? scratch_of<double>(*p) : scratch_of<float>(*p));
  p->how.tasks = p->work.tasks.size();
  p->how.workspace = p->bytes();
  return p;
}

/// Bytes for which the cap must leave room: none of packing alone.
std::size_t bytes_under_cap(prepared_plan const& p, machine_profile const& machine) {
  return only_packing(outline_of(p.how)) ? 0 : counted_bytes(p, machine);
}

/// Of a deterministic plan that fits: those workers beyond the cores do not work for whose scratch there is no room.
void leave_out_workers(prepared_plan& p, std::size_t cap) {
  if (p.bytes() <= cap || only_packing(outline_of(p.how))) return;
  p.how.workers = static_cast<int>((cap - p.shared_bytes) / p.scratch_bytes);
  p.how.workspace = p.bytes();
}

std::shared_ptr<prepared_plan const> with_order(std::shared_ptr<prepared_plan> p, machine_profile const& machine) {
  p->order = derive_dependencies(p->work, p->how.deterministic);
  prioritize(p->work, p->order, p->how);
  if (!p->how.levels.empty()) {
    p->scan = build_scan_graph(p->how, machine);
    p->scan_order = derive_dependencies(p->scan.work, false);
    p->opening = build_opening_graph(p->how, machine, p->work);
    p->opening_order = derive_dependencies(p->opening.work, false);
  }
  return p;
}

/// Makes the key ask for less than `how` needs; false when nothing less is left.
bool ask_for_less(plan_key& key, plan const& how) {
  constexpr std::size_t worth_halving = std::size_t{1} << 20;
  options& wishes = key.wishes;
  if (wishes.max_workspace != 0) {
    std::size_t const half = std::min(how.workspace, wishes.max_workspace.value_or(how.workspace)) / 2;
    wishes.max_workspace = half < worth_halving ? 0 : half;
    return true;
  }
  if (wishes.max_levels == 0 && key.workers == 1) return false;
  wishes.max_levels = 0;
  wishes.force_levels = -1;
  wishes.algorithm = "auto";
  key.workers = 1;
  return true;
}

std::size_t shared_bytes_for(prepared_plan const& p, lease_wishes const& lease) {
  return lease.with_shared ? p.shared_bytes : 0;
}

/// What devices take of the graph, where libheptad_cuda is found. Deterministic bits are those of the CPU.
void give_to_devices(prepared_plan& p, int levels) {
  if (p.how.deterministic) return;
  try {
    p.on_devices = find_cuda_backend().tasks_on_streams(p.work, levels);
  } catch (error const&) {
    // Then the devices do not multiply.
  }
}

/// Null where there is no plan for devices, or no device of Heptad's.
std::shared_ptr<prepared_plan> build_for_devices(plan_key const& key, machine_profile const& machine) {
  auto planned = plan_for_devices(key.type, key.shape, key.devices, key.wishes);
  if (!planned) return nullptr;
  auto p = build_graph(std::move(planned->how), machine, scheduler_kind::starpu);
  give_to_devices(*p, planned->levels);
  p->only_on_devices = true;
  return p->on_devices == nullptr ? nullptr : p;
}

}  // namespace

std::size_t bytes_for(prepared_plan const& p, lease_wishes const& lease) {
  return shared_bytes_for(p, lease) + p.scratch_bytes * static_cast<std::size_t>(std::max(lease.lanes, p.how.workers));
}

std::size_t counted_bytes(prepared_plan const& p, machine_profile const& machine) {
  int const workers = p.how.deterministic ? machine.cores : p.how.workers;
  return p.shared_bytes + p.scratch_bytes * static_cast<std::size_t>(workers);
}

std::shared_ptr<prepared_plan const> prepare(context::impl& state, plan_key const& key) {
  if (auto known = state.plans.planned.find([&](plan_key const& other) { return other == key; })) return known;
  machine_profile const& machine = state.machine();
  auto const keep = [&](std::shared_ptr<prepared_plan> fresh) {
    auto ready = with_order(std::move(fresh), machine);
    state.plans.planned.insert(key, ready);
    return ready;
  };
  if (auto for_devices = build_for_devices(key, machine)) return keep(std::move(for_devices));
  std::size_t const free = key.wishes.deterministic ? machine.memory_bytes : free_memory();
  options wishes = key.wishes;
  std::optional<std::size_t> first_cap;  // later plans are asked for less, to come under it
  for (;;) {
    plan chosen = choose_plan(key.type, key.shape, key.workers, free, machine, wishes);
    if (!first_cap) first_cap = chosen.workspace_cap;
    std::size_t const cap = chosen.workspace_cap = *first_cap;
    auto fresh = build_graph(std::move(chosen), machine, wishes.scheduler);
    std::size_t const bytes = bytes_under_cap(*fresh, machine);
    // The planner takes products into sums where they fit; in cells they must fill them. Of packing it knows no more
    // than about how much there is.
    if (bytes > cap) {
      double const excess = static_cast<double>(bytes) / std::max(1.0, static_cast<double>(cap));
      std::size_t const asked = wishes.max_workspace.value_or(cap);
      wishes.max_workspace = static_cast<std::size_t>(static_cast<double>(asked) / std::max(1.1, excess));
      continue;
    }
    leave_out_workers(*fresh, cap);
    if (key.devices > 0) give_to_devices(*fresh, 0);
    return keep(std::move(fresh));
  }
}

workspace with_memory(context::impl& state, plan_key key, std::shared_ptr<prepared_plan const> prepared,
                      lease_wishes const& lease) {
  workspace result{std::move(prepared), {}, false};
  for (;;) {
    result.shared_bytes = shared_bytes_for(*result.prepared, lease);
    result.memory = state.memory.take(bytes_for(*result.prepared, lease));
    if (result.memory) return result;
    if (!ask_for_less(key, result.prepared->how)) {
      throw error(status::out_of_memory,
                  fmt::format("no memory for {} bytes of packing scratch; C is untouched", result.prepared->bytes()));
    }
    result.prepared = prepare(state, key);
    result.fell_back = true;
  }
}

workspace get_workspace(context::impl& state, plan_key key, lease_wishes const& lease) {
  auto prepared = prepare(state, key);
  return with_memory(state, std::move(key), std::move(prepared), lease);
}

workspace get_classical_workspace(context::impl& state, plan const& instead_of, scheduler_kind scheduler,
                                  lease_wishes const& lease) {
  options wishes;
  wishes.scheduler = scheduler;
  wishes.max_levels = 0;
  wishes.deterministic = instead_of.deterministic;
  wishes.kernel = instead_of.kernel;
  return get_workspace(state, {instead_of.type, instead_of.shape, instead_of.workers, wishes}, lease);
}

options wishes_of(plan const& how) {
  options wishes;
  wishes.deterministic = how.deterministic;
  wishes.kernel = how.kernel.empty() ? "auto" : how.kernel;
  wishes.max_error = std::max(1.0, how.growth);
  if (how.levels.empty()) wishes.max_levels = 0;
  return wishes;
}

workspace get_workspace(context::impl& state, plan const& how, int threads, options const& wishes,
                        lease_wishes const& lease) {
  scheduler_kind const scheduler = wishes.scheduler;
  int const workers = std::min(how.workers, threads);
  auto prepared = state.plans.brought.find([&](brought_plan const& known) {
    return known.scheduler == scheduler && known.how.workers == workers && same_choices(known.how, how) &&
           known.how.workspace_cap == how.workspace_cap;
  });
  if (prepared == nullptr) {
    plan wanted = how;
    wanted.workers = workers;
    if (needs_cells(wanted.deterministic, scheduler)) wanted.pads = {};
    complete_plan(wanted, state.machine());
    prepared = with_order(build_graph(wanted, state.machine(), scheduler), state.machine());
    wanted.candidates.clear();
    state.plans.brought.insert({std::move(wanted), scheduler}, prepared);
  }
  options fallback = wishes;
  fallback.max_workspace = how.workspace;
  return with_memory(state, {how.type, how.shape, workers, fallback}, std::move(prepared), lease);
}

void measure_candidates(context::impl& state, plan& p, scheduler_kind scheduler) {
  for (candidate& c : p.candidates) c.workspace = build_graph(*c.how, state.machine(), scheduler)->bytes();
}

bool keeps_to_cap(plan const& p, machine_profile const& machine, scheduler_kind scheduler) {
  return bytes_under_cap(*with_order(build_graph(p, machine, scheduler), machine), machine) <= p.workspace_cap;
}

std::vector<plan> alternatives(context::impl& state, plan_key const& key, std::size_t most, std::size_t variants) {
  machine_profile const& machine = state.machine();
  auto plans = rank_plans(key.type, key.shape, key.workers, free_memory(), machine, key.wishes, most, variants);
  std::erase_if(plans, [&](plan const& p) { return !keeps_to_cap(p, machine, key.wishes.scheduler); });
  std::ranges::for_each(plans, name_kernels);
  if (plans.empty()) plans.push_back(prepare(state, key)->how);
  return plans;
}

bool same_choices(plan const& a, plan const& b) {
  auto const same_level = [](plan_level const& x, plan_level const& y) {
    return x.kind == y.kind && x.coefficients == y.coefficients;
  };
  return a.type == b.type && a.shape == b.shape && std::ranges::equal(a.levels, b.levels, same_level) &&
         a.product_buffer == b.product_buffer && a.slots == b.slots && a.independent == b.independent &&
         a.strips == b.strips && a.pads == b.pads && a.deterministic == b.deterministic && a.kernel == b.kernel;
}

void check_plan(plan const& how, element_type type, problem const& shape) {
  auto const text = [](problem const& p) {
    return fmt::format("m = {}, n = {}, k = {}, row-major {}{}{}", p.m, p.n, p.k, p.a_row_major ? "A" : "",
                       p.b_row_major ? "B" : "", p.c_row_major ? "C" : "");
  };
  if (how.type != type) reject("plan.type must be the element type of A, B and C");
  problem of_plan = how.shape;
  if (of_plan.beta_zero && !shape.beta_zero) reject("plan.shape.beta_zero = true must be false when beta is not 0");
  of_plan.beta_zero = shape.beta_zero;
  if (!(of_plan == shape))
    reject(fmt::format("plan.shape ({}) must be that of the product ({})", text(how.shape), text(shape)));
  constexpr std::size_t most_levels = 32;
  constexpr int most_products = 1 << 24;                  // some gigabytes of tasks
  constexpr int most_slots = 16 * 16 * 16;                // no algorithm has more products
  constexpr std::int64_t most_strips = 4 * most_threads;  // the planner makes at most three for a worker
  if (how.workers < 1) reject(fmt::format("plan.workers = {} must be at least 1", how.workers));
  if (how.slots < 1 || how.slots > most_slots)
    reject(fmt::format("plan.slots = {} must be between 1 and {}", how.slots, most_slots));
  if (how.strips < 1 || how.strips > most_strips)
    reject(fmt::format("plan.strips = {} must be between 1 and {}", how.strips, most_strips));
  if (how.levels.size() > most_levels)
    reject(fmt::format("plan.levels: {} must be at most {}", how.levels.size(), most_levels));
  if (!std::ranges::is_sorted(how.levels, {}, &plan_level::kind))
    reject("plan.levels: tasks must come before explicit passes, and these before fused levels");
  std::int64_t m = shape.m, n = shape.n, k = shape.k;  // of a block below the levels so far
  level_counts fused;
  double products = 1;
  for (plan_level const& level : how.levels) {
    if (level.coefficients == nullptr) reject(fmt::format("plan.levels: '{}' must have its coefficients", level.name));
    products *= level.coefficients->rank();
    if (products > most_products) reject(fmt::format("plan.levels must not make more than {} products", most_products));
    if (level.kind == level_kind::fused) fused = fused_over(fused, know(level.coefficients).traffic);
    if (fused.widest() > most_terms)
      reject(fmt::format("plan.levels: the fused ones must not sum or update {} blocks at once, but at most {}",
                         fused.widest(), most_terms));
    m /= level.coefficients->m, n /= level.coefficients->n, k /= level.coefficients->k;
    if (std::min({m, n, k}) < 1)
      reject(fmt::format("plan.levels: '{}' must not cut m = {}, n = {}, k = {} into more blocks than elements",
                         level.name, shape.m, shape.n, shape.k));
  }
  if (how.kernel.empty()) return;
  options named;
  named.kernel = how.kernel;
  check_options(named, type);
}

}  // namespace heptad
