// SPDX-License-Identifier: BSD-3-Clause
// The file is a cache: one that cannot be read or written, or is of another machine, never makes a product fail.
#include "src/api/refine.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include "src/algorithm/algorithm.hpp"
#include "src/plan/plan_json.hpp"
#include "src/plan/planner.hpp"
#include "src/plan/profile.hpp"
#include "src/plan/replace_file.hpp"

namespace heptad {
namespace {

using nlohmann::json;

/// A decision holds for this CPU, version and kernel set.
json header(machine_profile const& machine) {
  return {{"cpu", machine.cpu}, {"version", machine.version}, {"kernel", machine.kernel}};
}

char const* word_for(scheduler_kind who) {
  return who == scheduler_kind::tbb ? "" : who == scheduler_kind::starpu ? " starpu" : " sequential";
}

/// All that a decision follows from.
std::string name_of(plan_key const& key) {
  problem const& x = key.shape;
  options const& o = key.wishes;
  auto const order = [](bool row_major) { return row_major ? 'r' : 'c'; };
  return fmt::format(
      "{} {}x{}x{} {}{} beta={} workers={} error={}{} workspace={} levels={}/{} algorithm={} kernel={}{}{}",
      key.type == element_type::f64 ? 'd' : 's', x.m, x.n, x.k, order(x.a_row_major), order(x.b_row_major),
      x.beta_zero ? 0 : 1, key.workers, o.max_error, o.guaranteed ? " guaranteed" : "",
      o.max_workspace ? std::to_string(*o.max_workspace) : "default", o.max_levels, o.force_levels, o.algorithm,
      o.kernel, o.deterministic ? " deterministic" : "", word_for(o.scheduler));
}

json read_file(machine_profile const& machine) {
  try {
    std::ifstream file(refined_path());
    json const parsed = json::parse(file, nullptr, false);
    bool const usable = parsed.is_object() && parsed.value("machine", json()) == header(machine) &&
                        parsed.value("plans", json()).is_object();
    if (usable) return parsed;
  } catch (error const&) {
    // no place for it
  }
  return {{"machine", header(machine)}, {"plans", json::object()}};
}

void write_file(json const& all) {
  try {
    static_cast<void>(replace_file(refined_path(), all.dump(1) + '\n'));
  } catch (error const&) {
    // no place for it
  }
}

}  // namespace

std::string refined_path() { return (std::filesystem::path(profile_path()).parent_path() / "refined.json").string(); }

refinements::trial refinements::next(entry& e) {
  if (e.plans.size() < 2) return {e.plans.front(), -1};
  int const number = e.begun++ % 2;  // calls that overlap in time take the next turn
  return {e.plans[static_cast<std::size_t>(number)], number};
}

refinements::entry* refinements::find(plan_key const& key, machine_profile const& machine) {
  auto const known = std::ranges::find(entries_, key, &entry::key);
  if (known != entries_.end()) {
    entries_.splice(entries_.begin(), entries_, known);
    return &entries_.front();
  }
  json const plans = read_file(machine).at("plans");
  auto const kept = plans.find(name_of(key));
  if (kept == plans.end()) return nullptr;
  try {
    plan p = choices_from_json(*kept);
    p.type = key.type;
    p.shape = key.shape;
    p.workers = key.workers;
    p.reason = "the faster one of two plans that were measured before";
    complete_plan(p, machine);
    return &insert(key, {std::move(p)});
  } catch (std::exception const&) {
    return nullptr;  // of an algorithm that is not known any more
  }
}

refinements::entry& refinements::insert(plan_key const& key, std::vector<plan> plans) {
  std::vector<double> const none(plans.size(), std::numeric_limits<double>::infinity());
  entries_.push_front({key, std::move(plans), none, 0, 0});
  if (entries_.size() > capacity) entries_.pop_back();
  return entries_.front();
}

void refinements::tell(plan_key const& key, machine_profile const& machine, trial const& run, double seconds) {
  if (run.number < 0) return;
  std::lock_guard const lock(mutex_);
  auto const known = std::ranges::find(entries_, key, &entry::key);
  if (known == entries_.end() || known->plans.size() < 2) return;
  double& least = known->least[static_cast<std::size_t>(run.number)];
  least = std::min(least, seconds);
  if (++known->ended < 2 * turns || std::ranges::max(known->least) == std::numeric_limits<double>::infinity()) return;
  decide(*known);
  json all = read_file(machine);
  json decision = choices_to_json(known->plans.front());
  decision["seconds"] = known->least.front();
  all["plans"][name_of(key)] = decision;
  write_file(all);
}

void refinements::decide(entry& e) {
  std::size_t const better = e.least[1] < e.least[0] ? 1 : 0;
  plan winner = e.plans[better];
  winner.reason = fmt::format("measured: {:.6f} s, the other plan {:.6f} s", e.least[better], e.least[1 - better]);
  e.least = {e.least[better]};
  e.plans = {std::move(winner)};
}

}  // namespace heptad
