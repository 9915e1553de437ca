// SPDX-License-Identifier: BSD-3-Clause
// Chooses the levels: the search proposes lists of levels of all known algorithms, each is predicted in all its
// variants, and the cheapest that keeps to the caps is taken.
#include "src/plan/planner.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "src/matrix/reject.hpp"
#include "src/plan/accuracy.hpp"
#include "src/plan/block_search.hpp"
#include "src/plan/choice_words.hpp"
#include "src/plan/counted.hpp"
#include "src/plan/search_space.hpp"

namespace heptad {
namespace {

constexpr int most_levels = 8;
constexpr int most_forced_levels = 62;      // more than 64-bit sizes allow
constexpr std::int64_t smallest_leaf = 64;  // sides below this never win
double const default_max_error = options{}.max_error;
constexpr double margin = 0.03;  // what FMM must be predicted to gain: levels take up to so much longer than predicted
constexpr double near_tie = 0.005;      // among plans this close the most accurate one is taken,
constexpr double frugal_tie = 0.01;     // … and also of those that need at most a quarter of the workspace
constexpr double most_by_zeros = 0.05;  // a list of levels that is further behind is not tried with them
constexpr double hardly_longer = 0.02;  // a plan that fits is not looked for further when it takes at most so much more
constexpr int many_workers = 8, most_strips_per_worker = 3;  // strips of the classical product
constexpr std::size_t candidates_told = 8;
constexpr std::size_t lists_weighed = 24, lists_without_buffers = 8, lists_refused = 3;

enum class verdict { possible, too_inaccurate, too_large };

struct considered {
  outline what;
  estimate cost;
  double growth = 1, bound = 0;
  verdict allowed = verdict::possible;

  [[nodiscard]] double seconds() const noexcept { return cost.seconds; }
};

void check(problem const& shape, int workers, options const& wishes) {
  for (auto const& [name, size] : {std::pair{"m", shape.m}, {"n", shape.n}, {"k", shape.k}})
    if (size < 0) reject(fmt::format("{} = {} must not be negative", name, size));
  if (workers < 1) reject(fmt::format("workers = {} must be at least 1", workers));
  if (!(wishes.max_error >= 1)) reject(fmt::format("max_error = {} must be at least 1", wishes.max_error));
  if (wishes.algorithm != "auto" && find_algorithm(wishes.algorithm) == nullptr)
    reject(fmt::format("algorithm = '{}' must be \"auto\" or a name that `heptad info` lists", wishes.algorithm));
}

// Bitwise the same result for any number of workers: the plan is the one for all cores.
int planned_for(int workers, machine_profile const& machine, options const& wishes) {
  return wishes.deterministic ? machine.cores : workers;
}

/// Bytes of workspace that a plan may take where the caller does not say.
double default_cap(element_type type, problem const& shape, std::size_t free_memory, options const& wishes) {
  double const elements =
      double(shape.m) * double(shape.k) + double(shape.k) * double(shape.n) + double(shape.m) * double(shape.n);
  double const operands = elements * (type == element_type::f64 ? 8 : 4);
  // Forced levels are for tests at sizes where even the packing is larger than the operands.
  double const most = wishes.force_levels < 0 ? 2 * operands : std::numeric_limits<double>::infinity();
  return std::min(most, static_cast<double>(free_memory) / 2);
}

std::size_t whole_bytes(double cap) {
  return cap < 1e18 ? static_cast<std::size_t>(cap) : std::numeric_limits<std::size_t>::max();
}

class planning {
public:
  planning(element_type type, problem const& shape, int workers, std::size_t free_memory,
           machine_profile const& machine, options const& wishes)
      : type_(type),
        shape_(shape),
        workers_(workers),
        machine_(machine),
        wishes_(wishes),
        default_cap_(default_cap(type, shape, free_memory, wishes)),
        cap_(wishes.max_workspace ? static_cast<double>(*wishes.max_workspace) : default_cap_),
        palette_(wishes.algorithm, wishes.force_levels > 0) {}

  plan run() {
    auto const [classical, chosen, forced] = decide();
    plan p = describe(classical, chosen, forced);
    tell_candidates(p, classical, chosen != nullptr ? *chosen : classical);
    return p;
  }

  /// The chosen plan, then others that are possible, the cheapest first.
  std::vector<plan> rank(std::size_t most, std::size_t variants) {
    auto const [classical, chosen, forced] = decide();
    std::vector<plan> plans{describe(classical, chosen, forced)};
    std::vector<considered const*> order;
    for (considered const& c : considered_)
      if (c.allowed == verdict::possible && &c != chosen) order.push_back(&c);
    if (chosen != nullptr && forced < 0) order.push_back(&classical);
    std::ranges::stable_sort(order, {}, &considered::seconds);
    std::vector<std::vector<outline_level> const*> told;
    if (chosen != nullptr) told.push_back(&chosen->what.levels);
    for (considered const* c : order) {
      if (plans.size() >= most) break;
      auto const known = std::ranges::count_if(told, [&](auto const* levels) { return *levels == c->what.levels; });
      if (known >= static_cast<std::ptrdiff_t>(variants)) continue;
      told.push_back(&c->what.levels);
      plans.push_back(describe(classical, c == &classical ? nullptr : c, forced));
    }
    return plans;
  }

private:
  struct decision {
    considered classical;
    considered const* chosen;  // in considered_; none: the classical one
    int forced;                // levels; negative: planned
  };
  decision decide() {
    int const forced = forced_levels();
    decision d{best_classical(), nullptr, forced};
    weigh_all(forced);
    d.chosen =
        best_within(forced >= 0 ? std::numeric_limits<double>::infinity() : (1 - margin) * d.classical.seconds());
    return d;
  }

  [[nodiscard]] int forced_levels() const {
    if (wishes_.force_levels < 0) return -1;
    return wishes_.max_levels < 0 ? wishes_.force_levels : std::min(wishes_.force_levels, wishes_.max_levels);
  }

  /// Fills considered_: with what the caps allow, and with a few that they refuse.
  void weigh_all(int forced) {
    search_limits limits;
    if (forced < 0) {
      limits.most_levels = wishes_.max_levels < 0 ? most_levels : std::min(most_levels, wishes_.max_levels);
      limits.growth = wishes_.guaranteed ? wishes_.max_error : wishes_.max_error / growth_of_sums;
      limits.proved = wishes_.guaranteed;
      limits.workspace = cap_;
      // The search counts less than slots and strips take: where that is too much, it is asked for what needs less,
      // until what it finds fits, and for what needs nothing.
      constexpr double least = 1 << 20;
      while (!propose(limits, lists_weighed) && limits.workspace > least) limits.workspace /= 2;
      limits.workspace = 0;
      if (any(verdict::too_large)) propose(limits, lists_without_buffers);
      limits.growth = limits.workspace = std::numeric_limits<double>::infinity();
      bool const bounded = wishes_.max_error < default_max_error || cap_ < default_cap_;
      if (bounded || considered_.empty()) propose(limits, lists_refused);
      return;
    }
    limits.smallest_leaf = 1;
    limits.any_kind = true;
    for (int levels = std::min(forced, most_forced_levels); levels > 0 && considered_.empty(); --levels) {
      limits.least_levels = limits.most_levels = levels;
      propose(limits, lists_weighed);
    }
  }

  [[nodiscard]] bool any(verdict what) const {
    return std::ranges::find(considered_, what, &considered::allowed) != considered_.end();
  }

  /// Is the fastest plan that is found small enough, or one that takes hardly longer, or is there none?
  bool propose(search_limits const& limits, std::size_t count) {
    double possible = std::numeric_limits<double>::infinity(), too_large = possible;
    std::size_t at = considered_.size();
    for (outline& o : search(blocks_, workers_, limits, count).outlines) {
      // The variants of a list come one after the other, always the same: if one is known, so is the next.
      bool const another = at < considered_.size() && considered_[at].what.levels == o.levels;
      at = another ? at + 1 : first_variant(o.levels);
      if (at == considered_.size()) weigh(std::move(o));
      considered const& c = considered_[at];
      if (c.allowed == verdict::possible) possible = std::min(possible, c.seconds());
      if (c.allowed == verdict::too_large) too_large = std::min(too_large, c.seconds());
    }
    return possible <= (1 + hardly_longer) * too_large;
  }

  /// In considered_: where the variants of a list begin, or will.
  std::size_t first_variant(std::vector<outline_level> const& levels) {
    for (std::size_t const first : lists_)
      if (considered_[first].what.levels == levels) return first;
    lists_.push_back(considered_.size());
    return lists_.back();
  }

  void weigh(outline o) {
    considered c{std::move(o), {}, 1, 0, verdict::possible};
    // The variants of a list of levels come one after the other.
    considered const* before = considered_.empty() ? nullptr : &considered_.back();
    if (before != nullptr && before->what.levels != c.what.levels) before = nullptr;
    if (before != nullptr) c.what.pads = before->what.pads;
    c.cost = predict(type_, shape_, workers_, machine_, c.what, passes_);
    if (before == nullptr) take_zeros(c);
    judge(c, before);
    double const growth = wishes_.guaranteed ? c.bound / classical_bound_ : c.growth;
    if (wishes_.force_levels < 0 && growth > wishes_.max_error) c.allowed = verdict::too_inaccurate;
    else if (!fits(c)) c.allowed = verdict::too_large;
    if (c.allowed == verdict::possible) fastest_ = std::min(fastest_, c.seconds());
    considered_.push_back(std::move(c));
  }

  /// Where they cost less than fringes: along k, or along m and n, whose outermost level then takes more workspace. Of
  /// a C whose blocks end early fused levels would have ragged products all over.
  void take_zeros(considered& c) {
    if (needs_cells(wishes_.deterministic, wishes_.scheduler)) return;
    if (c.seconds() > (1 + most_by_zeros) * fastest_) return;
    auto const pad = [&](padding const& more) {
      if (more == c.what.pads) return;
      padding const less = std::exchange(c.what.pads, more);
      estimate const padded = predict(type_, shape_, workers_, machine_, c.what, passes_);
      bool const fits = padded.workspace() <= std::max(cap_, c.cost.workspace());
      if (fits && padded.seconds < c.seconds()) c.cost = padded;
      else c.what.pads = less;
    };
    pad({.k = c.cost.core_k != shape_.k});
    if (c.what.levels.front().kind != level_kind::fused)
      pad({c.cost.core_m != shape_.m, c.cost.core_n != shape_.n, c.what.pads.k});
  }

  /// All variants of a list of levels with a product buffer, or all without, are as accurate. before: the one
  /// considered last, or none.
  void judge(considered& c, considered const* before) const {
    if (before != nullptr && before->what.product_buffer == c.what.product_buffer) {
      c.growth = before->growth;
      c.bound = before->bound;
      return;
    }
    std::vector<level_accuracy const*> levels;
    for (outline_level const& l : c.what.levels) levels.push_back(&l.algorithm->accuracy[l.kind]);
    c.growth = expected_growth(levels);
    c.bound = error_bound(levels,
                          {double(shape_.k), double(c.cost.core_m), double(c.cost.core_n), double(c.cost.core_k),
                           c.what.product_buffer},
                          unit_roundoff(type_))
                  .product;
  }

  [[nodiscard]] bool fits(considered const& c) const { return c.cost.workspace() <= cap_ || only_packing(c.what); }

  // ---- the choice

  considered best_classical() {
    considered best{{}, {}, 1, classical_bound_, verdict::possible};
    best.cost.seconds = std::numeric_limits<double>::infinity();
    std::int64_t const longer = std::max(shape_.m, shape_.n);
    // One strip a worker, unless so many workers wait for the last one that more of them pay, packed again as they are.
    std::int64_t const most = workers_ < many_workers ? workers_ : most_strips_per_worker * workers_;
    for (std::int64_t strips = 1;;
         strips = strips < workers_ ? std::min<std::int64_t>(2 * strips, workers_) : strips + workers_) {
      outline o;
      o.strips = strips;
      estimate const cost = predict(type_, shape_, static_cast<int>(workers_), machine_, o);
      if (cost.seconds < best.cost.seconds) best.what = o, best.cost = cost;
      if (strips >= most || longer / (2 * strips) < 8) return best;
    }
  }

  // Of the plans that take at most so many seconds: the fastest, or one that ties with it and is better otherwise.
  [[nodiscard]] considered const* best_within(double seconds) const {
    auto const possible = [&](considered const& c) { return c.allowed == verdict::possible && c.seconds() <= seconds; };
    considered const* fastest = nullptr;
    for (considered const& c : considered_)
      if (possible(c) && (fastest == nullptr || c.seconds() < fastest->seconds())) fastest = &c;
    auto const close = [&](considered const& c) {
      double const tie = 4 * c.cost.workspace() <= fastest->cost.workspace() ? frugal_tie : near_tie;
      return c.seconds() <= (1 + tie) * fastest->seconds();
    };
    considered const* best = nullptr;
    // Then the one with the fewest task levels: a serial level spares workspace, and tasks that are not needed.
    auto const rank = [](considered const* c) {
      auto const tasks = std::count_if(c->what.levels.begin(), c->what.levels.end(),
                                       [](outline_level const& l) { return l.kind == level_kind::task; });
      return std::tuple(c->growth, tasks, c->cost.seconds, c->cost.workspace());
    };
    for (considered const& c : considered_)
      if (possible(c) && close(c) && (best == nullptr || rank(&c) < rank(best))) best = &c;
    return best;
  }

  // ---- words

  [[nodiscard]] std::string describe(outline const& o) const {
    if (o.levels.empty()) return o.strips > 1 ? fmt::format("classical in {} strips", o.strips) : "classical";
    std::string text;
    for (std::size_t i = 0; i < o.levels.size();) {
      std::size_t j = i;
      while (j < o.levels.size() && o.levels[j].kind == o.levels[i].kind &&
             o.levels[j].algorithm == o.levels[i].algorithm)
        ++j;
      text += fmt::format("{}{} {} {}", i == 0 ? "" : " + ", j - i, word_of(o.levels[i].kind),
                          o.levels[i].algorithm->coefficients->name);
      i = j;
    }
    if (o.levels.back().kind == level_kind::fused) text += o.product_buffer ? ", AB" : ", ABC";
    if (o.levels.front().kind == level_kind::task)
      text += fmt::format(", {} slot{}{}", o.slots, o.slots == 1 ? "" : "s", o.independent ? ", independent" : "");
    if (o.strips > 1) text += fmt::format(", {} strips", o.strips);
    return text;
  }

  static std::string levels_asked_for(int forced) {
    return fmt::format("{} {} asked for", counted(forced, "level"), forced == 1 ? "was" : "were");
  }

  [[nodiscard]] std::string verdict_words(considered const& c, considered const& chosen) const {
    if (c.allowed == verdict::too_large)
      return fmt::format("needs {:.3g} MB, more than the cap of {:.3g} MB", c.cost.workspace() / 1e6, cap_ / 1e6);
    if (c.allowed == verdict::too_inaccurate)
      return fmt::format("{} {:.3g} is above max_error {:.3g}",
                         wishes_.guaranteed ? "proved growth" : "expected growth",
                         wishes_.guaranteed ? c.bound / classical_bound_ : c.growth, wishes_.max_error);
    double const slower = 100 * (c.cost.seconds / chosen.cost.seconds - 1);
    if (slower >= 0) return fmt::format("{:.1f} % slower", slower);
    if (int const forced = forced_levels(); forced >= 0 && c.what.levels.empty())
      return "not allowed: " + levels_asked_for(forced);
    if (chosen.what.levels.empty())
      return fmt::format("{:.1f} % faster, below the margin of {:.1f} %", -slower, 100 * margin);
    return fmt::format("{:.1f} % faster, but less accurate", -slower);
  }

  [[nodiscard]] std::string reason(considered const& classical, considered const* chosen, int forced) const {
    if (chosen == nullptr) {
      if (palette_.shapes.empty()) return "the classical algorithm was asked for";
      if (forced == 0 || wishes_.max_levels == 0) return "no levels are allowed";
      if (considered_.empty()) return "classical: the sides are too small for a level";
      if (!any(verdict::possible)) return "classical: no level keeps to max_workspace and max_error";
      return fmt::format("classical: no plan with levels gains the {:.1f} % that it must", 100 * margin);
    }
    std::string const gain = fmt::format("{:.2f} times the speed of the classical product, predicted",
                                         classical.cost.seconds / chosen->cost.seconds);
    if (forced < 0) return gain;
    auto const levels = static_cast<int>(chosen->what.levels.size());
    if (levels < forced) return fmt::format("{}, {} fit; {}", levels_asked_for(forced), levels, gain);
    return fmt::format("{}; {}", levels_asked_for(forced), gain);
  }

  [[nodiscard]] plan describe(considered const& classical, considered const* found, int forced) const {
    considered const chosen = found != nullptr ? *found : classical;
    plan p;
    p.type = type_;
    p.shape = shape_;
    for (outline_level const& l : chosen.what.levels)
      p.levels.push_back({l.algorithm->coefficients->name, l.kind, l.algorithm->coefficients});
    p.product_buffer = chosen.what.product_buffer;
    p.workers = workers_;
    p.slots = chosen.what.slots;
    p.independent = chosen.what.independent;
    p.strips = chosen.what.strips;
    p.pads = chosen.what.pads;
    p.deterministic = wishes_.deterministic;
    p.kernel = wishes_.kernel == "auto" ? machine_.kernel : wishes_.kernel;
    p.classical_seconds = classical.cost.seconds;
    p.workspace_cap = whole_bytes(cap_);
    p.reason = reason(classical, found, forced);
    return p;
  }

  // The best of every list of levels, cheapest first, whatever speaks against it.
  void tell_candidates(plan& p, considered const& classical, considered const& chosen) const {
    std::vector<considered const*> order;
    for (considered const& c : considered_) order.push_back(&c);
    std::stable_sort(order.begin(), order.end(),
                     [](auto const* a, auto const* b) { return a->cost.seconds < b->cost.seconds; });
    auto const tell = [&](considered const& c, std::string words) {
      plan how = describe(classical, c.what.levels.empty() ? nullptr : &c, -1);
      complete_plan(how, machine_);
      p.candidates.push_back({describe(c.what), c.cost.seconds, static_cast<std::size_t>(c.cost.workspace()), c.growth,
                              c.bound, std::move(words), std::make_shared<plan const>(std::move(how))});
    };
    tell(chosen, "chosen");
    std::vector<std::pair<std::vector<outline_level> const*, verdict>> told{{&chosen.what.levels, verdict::possible}};
    for (considered const* c : order) {
      if (p.candidates.size() == candidates_told) break;
      bool const known = std::any_of(told.begin(), told.end(), [&](auto const& t) {
        return t.second == c->allowed && *t.first == c->what.levels;
      });
      if (known) continue;
      told.emplace_back(&c->what.levels, c->allowed);
      tell(*c, verdict_words(*c, chosen));
    }
    if (!chosen.what.levels.empty()) tell(classical, verdict_words(classical, chosen));
  }

  element_type const type_;
  problem const shape_;
  int const workers_;
  machine_profile const& machine_;
  options const& wishes_;
  double const default_cap_, cap_;  // bytes of workspace
  double const classical_bound_ =
      error_bound({}, {double(shape_.k), 0, 0, double(shape_.k), false}, unit_roundoff(type_)).product;
  palette const palette_;
  block_search blocks_{palette_, type_, shape_, workers_, machine_};
  priced_passes passes_;
  std::vector<considered> considered_;
  double fastest_ = std::numeric_limits<double>::infinity();  // of those that are possible
  std::vector<std::size_t> lists_;  // where in considered_ the variants of each list of levels begin
};

}  // namespace

plan choose_plan(element_type type, problem const& shape, int workers, std::size_t free_memory,
                 machine_profile const& machine, options const& wishes) {
  check(shape, workers, wishes);
  plan p = planning(type, shape, planned_for(workers, machine, wishes), free_memory, machine, wishes).run();
  p.workers = workers;
  complete_plan(p, machine);
  return p;
}

std::vector<plan> rank_plans(element_type type, problem const& shape, int workers, std::size_t free_memory,
                             machine_profile const& machine, options const& wishes, std::size_t most,
                             std::size_t variants) {
  check(shape, workers, wishes);
  std::vector<plan> plans =
      planning(type, shape, planned_for(workers, machine, wishes), free_memory, machine, wishes).rank(most, variants);
  for (plan& p : plans) {
    p.workers = workers;
    complete_plan(p, machine);
  }
  return plans;
}

std::size_t workspace_cap(element_type type, problem const& shape, std::size_t free_memory, options const& wishes) {
  return wishes.max_workspace.value_or(whole_bytes(default_cap(type, shape, free_memory, wishes)));
}

outline outline_of(plan const& p) {
  outline o;
  for (plan_level const& l : p.levels) o.levels.push_back({&know(l.coefficients), l.kind});
  o.product_buffer = p.product_buffer;
  o.slots = p.slots;
  o.independent = p.independent;
  o.strips = p.strips;
  o.pads = p.pads;
  return o;
}

bool only_packing(outline const& o) {
  return !o.product_buffer &&
         std::ranges::all_of(o.levels, [](outline_level const& l) { return l.kind == level_kind::fused; });
}

void complete_plan(plan& p, machine_profile const& machine) {
  estimate const e = predict(p.type, p.shape, p.workers, machine, outline_of(p));
  p.core_m = e.core_m;
  p.core_n = e.core_n;
  p.core_k = e.core_k;
  p.seconds = e.seconds;
  p.workspace = static_cast<std::size_t>(e.workspace());
  p.tasks = static_cast<std::size_t>(e.tasks);
  judge_accuracy(p);
}

}  // namespace heptad
