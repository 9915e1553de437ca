// SPDX-License-Identifier: BSD-3-Clause
// How wrong the predictions for the parts of shared products were, for the next product of the same shape.
#pragma once

#include <algorithm>
#include <cmath>
#include <list>
#include <mutex>
#include <utility>
#include <vector>

#include <heptad/hybrid.hpp>

#include "src/plan/split.hpp"

namespace heptad {

/// All that a split follows from but what was learned.
struct shared_product_key {
  element_type type;
  problem shape;
  bool pinned = false;
  int workers = 1;
  std::size_t participants = 1;
  hybrid::options wishes;

  friend bool operator==(shared_product_key const&, shared_product_key const&) = default;
};

/// What is known of one shape: measured over predicted seconds of each participant, and how C was split by that.
struct learned_split {
  std::vector<double> factors;
  split how;  ///< no parts: it must be made again
  int times_made = 0;
  split alone;         ///< all of C by whoever is predicted to be fastest by itself
  split shared;        ///< what `alone` is compared with; no parts: nothing
  double seconds = 0;  ///< that `shared` took
  bool settled = false;
};

/// Of recent shapes. Thread-safe.
class learned_rates {
public:
  /// Of a shape that is new: factors of 1, and no split.
  [[nodiscard]] learned_split find(shared_product_key const& key) {
    std::lock_guard const lock(mutex_);
    auto const found = std::ranges::find(entries_, key, &entry::first);
    if (found != entries_.end()) return found->second;
    learned_split fresh;
    fresh.factors.assign(key.participants, 1.0);
    return fresh;
  }

  /// After a product that was split as `known` says, whose participants took so much of the predicted time (0: had no
  /// part). A split whose predictions were wrong is made again, some times, by factors that have moved half of the way
  /// to what was seen: one disturbed call does little harm. A split that then takes longer than one participant is
  /// predicted to need alone is compared with that, in the next call; the faster of the two is kept.
  void tell(shared_product_key const& key, learned_split known, std::vector<double> const& seen, double seconds) {
    if (!known.settled) learn(known, seen, seconds);
    std::lock_guard const lock(mutex_);
    entries_.remove_if([&](entry const& e) { return e.first == key; });
    entries_.emplace_front(key, std::move(known));
    if (entries_.size() > capacity) entries_.pop_back();
  }

private:
  static void learn(learned_split& known, std::vector<double> const& seen, double seconds) {
    if (!known.shared.parts.empty()) {
      if (known.seconds < seconds) known.how = known.shared;
      known.settled = true;
      return;
    }
    bool const wrong =
        std::ranges::any_of(seen, [](double s) { return s > 0 && (s > tolerated || s < 1 / tolerated); });
    if (wrong && known.times_made < most_times) {
      known.how.parts.clear();
      for (std::size_t i = 0; i < seen.size(); ++i)
        if (seen[i] > 0) known.factors[i] *= std::sqrt(seen[i]);
      return;
    }
    known.settled = known.how.parts.size() < 2 || known.alone.parts.empty() || seconds < known.alone.seconds;
    if (known.settled) return;
    known.shared = std::exchange(known.how, known.alone);
    known.seconds = seconds;
  }

  using entry = std::pair<shared_product_key, learned_split>;
  static constexpr std::size_t capacity = 16;
  static constexpr double tolerated = 1.1;
  static constexpr int most_times = 6;
  std::mutex mutex_;
  std::list<entry> entries_;
};

}  // namespace heptad
