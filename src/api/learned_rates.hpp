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
};

/// Of recent shapes. Thread-safe.
class learned_rates {
public:
  /// Of a shape that is new: factors of 1, and no split.
  [[nodiscard]] learned_split find(shared_product_key const& key) {
    std::lock_guard const lock(mutex_);
    auto const found = std::ranges::find(entries_, key, &entry::first);
    return found == entries_.end() ? learned_split{std::vector<double>(key.participants, 1.0), {}} : found->second;
  }

  /// After a product that was split as `known` says, whose participants took so much of the predicted time (0: had no
  /// part). A split whose predictions were wrong is made again, some times, by factors that have moved half of the way
  /// to what was seen: one disturbed call does little harm.
  void tell(shared_product_key const& key, learned_split known, std::vector<double> const& seen) {
    bool const wrong =
        std::ranges::any_of(seen, [](double s) { return s > 0 && (s > tolerated || s < 1 / tolerated); });
    if (wrong && known.times_made < most_times) {
      known.how.parts.clear();
      for (std::size_t i = 0; i < seen.size(); ++i)
        if (seen[i] > 0) known.factors[i] *= std::sqrt(seen[i]);
    }
    std::lock_guard const lock(mutex_);
    entries_.remove_if([&](entry const& e) { return e.first == key; });
    entries_.emplace_front(key, std::move(known));
    if (entries_.size() > capacity) entries_.pop_back();
  }

private:
  using entry = std::pair<shared_product_key, learned_split>;
  static constexpr std::size_t capacity = 16;
  static constexpr double tolerated = 1.1;
  static constexpr int most_times = 6;
  std::mutex mutex_;
  std::list<entry> entries_;
};

}  // namespace heptad
