// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace heptad {

/// What the map holds for the key; where it holds nothing, what make() gives. Made before it is remembered: when make
/// throws, nothing half-made is left behind.
template <typename Map, typename Make>
typename Map::mapped_type& find_or_make(Map& map, typename Map::key_type const& key, Make const& make) {
  auto found = map.find(key);
  if (found == map.end()) found = map.emplace(key, make()).first;
  return found->second;
}

}  // namespace heptad
