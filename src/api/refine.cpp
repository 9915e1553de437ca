// SPDX-License-Identifier: BSD-3-Clause
// What is kept is a cache: whatever the file holds, and wherever memory runs out, no product fails for it.
#include "src/api/refine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <utility>

#include "src/algorithm/algorithm.hpp"
#include "src/api/decisions.hpp"
#include "src/api/memory.hpp"
#include "src/api/prepare.hpp"
#include "src/plan/planner.hpp"

namespace heptad {
namespace {

char const* word_for(scheduler_kind who) {
  return who == scheduler_kind::tbb ? "" : who == scheduler_kind::starpu ? " starpu" : " sequential";
}

/// All that a decision follows from.
std::string name_of(plan_key const& key) {
  problem const& x = key.shape;
  options const& o = key.wishes;
  auto const order = [](bool row_major) { return row_major ? 'r' : 'c'; };
  return fmt::format(
      "{} {}x{}x{} {}{} beta={} workers={} error={}{} workspace={} levels={}/{} algorithm={} kernel={}{}",
      key.type == element_type::f64 ? 'd' : 's', x.m, x.n, x.k, order(x.a_row_major), order(x.b_row_major),
      x.beta_zero ? 0 : 1, key.workers, o.max_error, o.guaranteed ? " guaranteed" : "",
      o.max_workspace ? std::to_string(*o.max_workspace) : "default", o.max_levels, o.force_levels, o.algorithm,
      o.kernel, word_for(o.scheduler));
}

}  // namespace

refinements::trial refinements::next(entry& e) {
  if (e.plans.size() < 2) return {e.plans.front(), -1};
  int const number = static_cast<int>(e.begun++ % 2);  // calls that overlap in time take the next turn
  return {e.plans[static_cast<std::size_t>(number)], number};
}

refinements::entry* refinements::find(plan_key const& key, machine_profile const& machine) {
  auto const known = std::ranges::find(entries_, key, &entry::key);
  if (known != entries_.end()) {
    entries_.splice(entries_.begin(), entries_, known);
    return &entries_.front();
  }
  try {
    auto const all = read_decisions(machine);
    auto const kept = std::ranges::find(all, name_of(key), &decision::of);
    if (kept == all.end()) return nullptr;
    plan p = kept->how;
    for (plan_level& level : p.levels) level.coefficients = find_algorithm(level.name);
    p.type = key.type;
    p.shape = key.shape;
    p.workers = key.workers;
    p.workspace_cap = workspace_cap(key.type, key.shape, free_memory(), key.wishes);
    p.reason = "the faster one of two plans that were measured before";
    check_plan(p, key.type, key.shape);
    complete_plan(p, machine);
    if (!keeps_to_cap(p, machine, key.wishes.scheduler)) return nullptr;
    return &insert(key, {std::move(p)});
  } catch (std::exception const&) {
    return nullptr;  // no plan of this library, or there is no memory for it: the trials are made again
  }
}

refinements::entry& refinements::insert(plan_key const& key, std::vector<plan> plans) {
  std::vector<double> const none(plans.size(), std::numeric_limits<double>::infinity());
  entries_.push_front({key, std::move(plans), none, 0, 0});
  if (entries_.size() > capacity) entries_.pop_back();
  return entries_.front();
}

void refinements::tell(plan_key const& key, machine_profile const& machine, trial const& of, double took) noexcept try {
  if (of.number < 0) return;
  std::lock_guard const lock(mutex_);
  auto const known = std::ranges::find(entries_, key, &entry::key);
  if (known == entries_.end() || known->plans.size() < 2) return;
  double& least = known->least[static_cast<std::size_t>(of.number)];
  least = std::min(least, took);
  if (++known->ended < 2 * turns || std::ranges::max(known->least) == std::numeric_limits<double>::infinity()) return;
  decide(*known);
  remember(*known, machine);
} catch (std::exception const&) {
  // Later calls decide, or a later process does.
}

void refinements::decide(entry& e) {
  std::size_t const better = e.least[1] < e.least[0] ? 1 : 0;
  e.plans[better].reason =
      fmt::format("measured: {:.6f} s, the other plan {:.6f} s", e.least[better], e.least[1 - better]);
  auto const worse = static_cast<std::ptrdiff_t>(1 - better);  // nothing fails from here on
  e.plans.erase(e.plans.begin() + worse);
  e.least.erase(e.least.begin() + worse);
}

void refinements::remember(entry const& e, machine_profile const& machine) {
  auto all = read_decisions(machine);
  std::string name = name_of(e.key);
  std::erase_if(all, [&name](decision const& d) { return d.of == name; });
  all.push_back({std::move(name), e.plans.front(), e.least.front()});
  write_decisions(all, machine);
}

}  // namespace heptad
