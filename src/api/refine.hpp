// SPDX-License-Identifier: BSD-3-Clause
// options.refine: the two plans that the model holds best are measured on the caller's own calls, in turns and without
// extra work, and the faster one is remembered: for the process, and in the folder of the machine profile for the next
// (the poly-algorithm of Huang 2018, §4.4).
#pragma once

#include <list>
#include <mutex>
#include <string>
#include <vector>

#include <heptad/heptad.hpp>

#include "src/api/plan_cache.hpp"
#include "src/plan/profile.hpp"

namespace heptad {

class refinements {
public:
  /// Calls that each of the two plans is given; the first one of a plan also pays for its graph and fresh memory, so
  /// the least time counts.
  static constexpr int turns = 2;

  struct trial {
    plan how;
    int number = -1;  // which of the two; −1: there is nothing left to measure
  };

  /// The plan for the next call. candidates(): the best two plans, asked for once. `machine` is the profile that they
  /// were planned with. Thread-safe.
  template <typename Candidates>
  trial next(plan_key const& key, machine_profile const& machine, Candidates const& candidates) {
    std::lock_guard const lock(mutex_);
    entry* known = find(key, machine);
    if (known == nullptr) known = &insert(key, candidates());
    return next(*known);
  }

  /// Seconds that a trial took. Decides after the last one. The product is done: what fails here fails in silence.
  void tell(plan_key const& key, machine_profile const& machine, trial const& of, double took) noexcept;

private:
  struct entry {
    plan_key key;
    std::vector<plan> plans;  // two; one when there is no other, or it is decided
    std::vector<double> least;
    unsigned begun = 0, ended = 0;  // trials, modulo 2^32
  };

  entry* find(plan_key const& key, machine_profile const& machine);
  entry& insert(plan_key const& key, std::vector<plan> plans);
  static trial next(entry& e);
  static void decide(entry& e);
  static void remember(entry const& e, machine_profile const& machine);

  static constexpr std::size_t capacity = 256;
  std::mutex mutex_;
  std::list<entry> entries_;  // latest first
};

}  // namespace heptad
