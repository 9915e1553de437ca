// SPDX-License-Identifier: BSD-3-Clause
#include "src/plan/level_time.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <utility>

namespace heptad {
namespace {

std::size_t at(int p) noexcept { return static_cast<std::size_t>(p); }

class level_run {
public:
  level_run(product_waits const& waits, shared_level const& level)
      : waits_(waits),
        strips_(level.strips),
        idle_(level.workers),
        left_(waits.products.size()),
        before_update_(waits.before_update),
        sums_(level.sums),
        update_(level.update),
        strips_left_(waits.products.size(), level.strips) {
    // Beside what each waits for: that its turn in the phases of the level has come.
    for (product_waits::product const& p : waits.products) waits_for_.push_back(p.waits_for + 1);
    release(0, waits.before_sums);
    if (sums_ == 0) end_sums();
  }

  double time() {
    double now = 0;
    while (left_ > 0 || update_ > 0) {
      begin_tasks(now);
      double* const pass = sums_ > 0 ? &sums_ : before_update_ == 0 && update_ > 0 ? &update_ : nullptr;
      constexpr double never = std::numeric_limits<double>::infinity();
      double const to_task = running_.empty() ? never : running_.front().end - now;
      double const to_pass = pass != nullptr && idle_ > 0 ? *pass / idle_ : never;
      if (pass != nullptr && to_pass <= to_task) {
        now += to_pass;
        *pass = 0;
        if (pass == &sums_) end_sums();
        else end_update();
      } else {
        if (to_pass < never) *pass -= to_task * idle_;
        now += to_task;
      }
      for (; !running_.empty() && running_.front().end <= now; running_.pop_front())
        end_strip(running_.front().product);
    }
    return now;
  }

private:
  /// All are equally long: those that begin first end first.
  struct task {
    int product;
    double end;
  };

  void begin_tasks(double now) {
    while (idle_ > 0 && !ready_.empty()) {
      --idle_;
      running_.push_back({ready_.front(), now + 1});
      if (++begun_ == strips_) ready_.pop_front(), begun_ = 0;
    }
  }

  void end_strip(int p) {
    ++idle_;
    if (--strips_left_[at(p)] > 0) return;
    --left_;
    for (int const next : waits_.products[at(p)].followers) release(next);
    if (p < waits_.before_update && --before_update_ == 0 && update_ == 0) end_update();
  }

  void end_sums() { release(waits_.before_sums, waits_.before_update); }
  void end_update() { release(waits_.before_update, static_cast<int>(waits_.products.size())); }

  void release(int first, int end) {
    for (int p = first; p < end; ++p) release(p);
  }
  void release(int p) {
    if (--waits_for_[at(p)] > 0) return;
    // Behind the product that is being begun.
    auto const from = ready_.begin() + (begun_ > 0 ? 1 : 0);
    ready_.insert(std::upper_bound(from, ready_.end(), p), p);
  }

  product_waits const& waits_;
  std::int64_t const strips_;
  int idle_;
  std::size_t left_;      // products not yet done
  int before_update_;     // … of those that the update waits for
  double sums_, update_;  // work left
  std::vector<std::int64_t> strips_left_;
  std::vector<int> waits_for_;
  std::deque<int> ready_;   // products
  std::int64_t begun_ = 0;  // strips of the first one
  std::deque<task> running_;
};

}  // namespace

product_waits waits_of(level_schedule s) {
  product_waits result;
  std::vector<scheduled_product const*> in_order;
  for (auto* list : {&s.before_sums, &s.before_update, &s.after_update}) {
    put_longest_chains_first(*list);
    for (scheduled_product const& p : *list) in_order.push_back(&p);
  }
  result.products.resize(in_order.size());
  std::size_t const after_update = s.update_C.targets.empty() ? 0 : s.after_update.size();
  result.before_sums = static_cast<int>(s.before_sums.size());
  result.before_update = static_cast<int>(in_order.size() - after_update);

  std::vector<int> depth;  // of the chain that ends with a product
  for (std::size_t p = 0; p < in_order.size(); ++p) {
    depth.push_back(p < at(result.before_update) ? 1 : 1 + result.chain);
    for (std::size_t q = 0; q < p; ++q) {
      if (!waits(*in_order[p], *in_order[q])) continue;
      result.products[q].followers.push_back(static_cast<int>(p));
      ++result.products[p].waits_for;
      depth[p] = std::max(depth[p], depth[q] + 1);
    }
    // What comes after the update waits for the longest chain before it.
    if (p + 1 == at(result.before_update) || p + 1 == in_order.size()) result.chain = std::ranges::max(depth);
  }
  return result;
}

double level_time(product_waits const& waits, shared_level const& level) { return level_run(waits, level).time(); }

}  // namespace heptad
