// SPDX-License-Identifier: BSD-3-Clause
// What random calls are drawn from: a stream of numbers for each, and sizes of which most are small.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace heptad::fuzz {

/// Steele, Lea, Flood 2014: the state is a counter, so every call has a stream of its own.
class stream {
public:
  stream(std::uint64_t seed, std::uint64_t call) : state_(seed * 0x9e3779b97f4a7c15u + (call << 20)) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// 0 ≤ value < count
  int below(int count) { return static_cast<int>(next() % static_cast<std::uint64_t>(count)); }
  bool one_in(int count) { return below(count) == 0; }
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-52 - 1; }
  char of(std::string_view letters) {
    return letters[static_cast<std::size_t>(below(static_cast<int>(letters.size())))];
  }

private:
  std::uint64_t state_;
};

inline int draw_size(stream& r) {
  int const kind = r.below(1000);
  if (kind < 600) return r.below(9);
  if (kind < 900) return r.below(25);
  if (kind < 990) return 1 + r.below(80);
  if (kind < 999) return 1 + r.below(300);
  return 1 + r.below(2000);
}

}  // namespace heptad::fuzz
