// SPDX-License-Identifier: BSD-3-Clause
// What recent calls have made ready, for the next ones like them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <utility>

namespace heptad::cuda {

/// The values of the last `Capacity` keys that were asked for. Thread-safe.
template <typename Key, typename Value, std::size_t Capacity>
class recent {
public:
  /// make() when there is none, or none of which `holds` is true any more; what they throw is passed on.
  template <typename Make, typename Holds>
  std::shared_ptr<Value const> get(Key const& key, Make const& make, Holds const& holds) {
    if (auto known = find(key); known != nullptr && holds(*known)) return known;
    auto fresh = std::make_shared<Value const>(make());
    std::lock_guard const lock(mutex_);
    entries_.remove_if([&key](entry const& e) { return e.first == key; });
    entries_.emplace_front(key, fresh);
    if (entries_.size() > Capacity) entries_.pop_back();
    return fresh;
  }
  template <typename Make>
  std::shared_ptr<Value const> get(Key const& key, Make const& make) {
    return get(key, make, [](Value const&) { return true; });
  }

private:
  std::shared_ptr<Value const> find(Key const& key) {
    std::lock_guard const lock(mutex_);
    auto const found = std::ranges::find(entries_, key, &entry::first);
    if (found == entries_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, found);
    return found->second;
  }

  using entry = std::pair<Key, std::shared_ptr<Value const>>;
  std::mutex mutex_;
  std::list<entry> entries_;
};

}  // namespace heptad::cuda
