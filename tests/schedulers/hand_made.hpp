// SPDX-License-Identifier: BSD-3-Clause
// Graphs written by hand, and an executor that calls a function of the test for each task: schedulers are tested
// without any matrix.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "schedulers/executor.hpp"
#include "schedulers/scheduler.hpp"
#include "tasks/graph.hpp"

namespace heptad::test {

struct hand_made {
  heptad::graph graph;
  heptad::dependencies dependencies;

  /// n tasks named "task 0", …; the earlier, the more urgent; no edges.
  explicit hand_made(int n) {
    for (int t = 0; t < n; ++t) {
      task each;
      each.name = "task " + std::to_string(t);
      each.priority = -t;
      graph.tasks.push_back(each);
    }
    auto const count = static_cast<std::size_t>(n);
    dependencies.successors.resize(count);
    dependencies.predecessors.resize(count, 0);
    dependencies.exclusions.resize(count);
  }

  hand_made& edge(int before, int after) {
    dependencies.successors[static_cast<std::size_t>(before)].push_back(after);
    ++dependencies.predecessors[static_cast<std::size_t>(after)];
    return *this;
  }
  /// The task holds these locks (ascending) while it runs.
  hand_made& holds(int t, std::vector<int> locks) {
    for (int const lock : locks) dependencies.locks = std::max(dependencies.locks, lock + 1);
    dependencies.exclusions[static_cast<std::size_t>(t)] = std::move(locks);
    return *this;
  }
};

class calling_executor final : public executor {
public:
  using function = std::function<void(int task, std::byte* scratch)>;
  calling_executor(graph const& g, function f, std::size_t scratch = 0)
      : graph_(g), function_(std::move(f)), scratch_(scratch) {}
  [[nodiscard]] std::size_t scratch_bytes() const noexcept override { return scratch_; }
  void run(task const& t, std::byte* scratch) const noexcept override {
    function_(static_cast<int>(&t - graph_.tasks.data()), scratch);
  }
  void run_at(task const& t, std::span<location const>, std::byte* scratch) const noexcept override { run(t, scratch); }

private:
  graph const& graph_;
  function function_;
  std::size_t scratch_;
};

/// Counts the tasks that find another one inside a lock of theirs: enter() and leave() around what each does.
class overlap_count {
public:
  explicit overlap_count(dependencies const& of) : of_(of), inside_(static_cast<std::size_t>(of.locks)) {}
  void enter(int t) {
    for (int const lock : locks(t)) overlaps_ += inside_[static_cast<std::size_t>(lock)].fetch_add(1);
  }
  void leave(int t) {
    for (int const lock : locks(t)) --inside_[static_cast<std::size_t>(lock)];
  }
  [[nodiscard]] int overlaps() const { return overlaps_; }

private:
  [[nodiscard]] std::vector<int> const& locks(int t) const { return of_.exclusions[static_cast<std::size_t>(t)]; }

  dependencies const& of_;
  std::vector<std::atomic<int>> inside_;
  std::atomic<int> overlaps_ = 0;
};

inline std::byte* no_scratch(int, std::size_t) { return nullptr; }

/// A fixed sequence of pseudo-random numbers below `limit` (a linear congruential generator, Knuth's constants).
class numbers {
public:
  explicit numbers(unsigned seed) : state_(seed) {}
  int below(int limit) {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<int>((state_ >> 33) % static_cast<unsigned long long>(limit));
  }

private:
  unsigned long long state_;
};

/// Tasks with up to three edges from earlier ones each.
inline hand_made random_graph(int tasks, unsigned seed) {
  hand_made x(tasks);
  numbers random(seed);
  for (int t = 1; t < tasks; ++t) {
    std::vector<int> from;
    for (int e = random.below(4); e > 0; --e) from.push_back(random.below(t));
    std::sort(from.begin(), from.end());
    from.erase(std::unique(from.begin(), from.end()), from.end());
    for (int const f : from) x.edge(f, t);
  }
  return x;
}

}  // namespace heptad::test
