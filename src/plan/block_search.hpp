// SPDX-License-Identifier: BSD-3-Clause
// The best ways to do a block on one worker: what a block costs depends on its shape alone, so that the same blocks
// within different lists of levels are looked at once. Dynamic programming from the leaves out.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "src/plan/level_price.hpp"
#include "src/plan/search_space.hpp"

namespace heptad {

/// A way that costs so much more than the classical product of its block is not followed.
inline constexpr double hopeless = 1.1;

/// A way to do a block: its outermost level and a way for what is inside.
struct way {
  double overwrite = 0, accumulate = 0;  // seconds on one worker, by how its C is updated
  double growth = 1;
  double held = 0;  // bytes of buffers
  known_algorithm const* outer = nullptr;
  known_algorithm const* second = nullptr;  // of two fused levels
  bool fused = false;
  std::array<std::uint32_t, 3> inner_block{};  // how often m, n, k are divided
  bool inner_mixed = false;
  int inner = -1;  // number of the way inside; none: a leaf

  [[nodiscard]] double seconds() const noexcept { return overwrite + accumulate; }
};

class block_search {
public:
  using divisors = std::array<std::uint32_t, 3>;

  struct block {
    divisors d;
    bool mixed;                                         // a level of a shape that does not halve is above
    std::vector<std::optional<std::vector<way>>> ways;  // by the number of levels; none: not yet known
  };

  block_search(palette const& from, element_type type, problem const& shape, machine_profile const& machine,
               search_limits const& limits)
      : from_(from), price_(type, machine), shape_(shape), limits_(limits) {}

  /// It stays where it is.
  block& at(divisors d, bool mixed);
  /// The best ways to do the block with exactly so many levels.
  std::vector<way> const& ways(block& x, int levels);
  double seconds_of_leaf(block& x) { return ways(x, 0).front().seconds(); }

  [[nodiscard]] extent size_of(block const& x) const {
    return {double(shape_.m) / x.d[0], double(shape_.n) / x.d[1], double(shape_.k) / x.d[2]};
  }
  [[nodiscard]] bool fits(extent const& block, level_traffic const& t) const;
  /// At most one level of a plan does not halve: more of them open a space that no plan within a millisecond covers,
  /// and what they gain over one is little.
  [[nodiscard]] bool may_follow(shape_group const& shape, bool mixed) const noexcept {
    return !mixed || shape.blocks().halves() || from_.shapes.size() == 1;
  }
  /// The blocks of a level.
  block& inside(block const& x, level_traffic const& t);
  [[nodiscard]] level_passes const& passes(level_traffic const& t, extent const& block, bool overwrite,
                                           bool independent) const {
    return t.in(order_of(block, {shape_.a_row_major, shape_.b_row_major}, overwrite, independent));
  }
  [[nodiscard]] prices const& price() const noexcept { return price_; }
  [[nodiscard]] double growth(known_algorithm const& x) const noexcept;

  /// Appends the levels of a way.
  void unfold(way const& w, int levels, std::vector<outline_level>& into);

  [[nodiscard]] std::size_t blocks() const noexcept { return known_.size(); }
  [[nodiscard]] std::size_t priced() const noexcept { return priced_; }

private:
  struct key {
    divisors d;
    bool mixed;
    friend bool operator==(key const&, key const&) = default;
  };
  struct hash {
    std::size_t operator()(key const& x) const noexcept;
  };

  double price(extent const& block, level_traffic const& fused);
  void add_fused(std::vector<way>& list, extent const& block, known_algorithm const& x, known_algorithm const* second);
  /// Even if its sums and updates cost nothing?
  [[nodiscard]] bool may_pay(extent const& block, level_traffic const& t, double classical);
  /// The outer one halves: the packing would form too many sums of other pairs.
  void add_two_fused(std::vector<way>& list, extent const& block, shape_group const& outer, bool mixed,
                     double classical);
  void add_explicit(std::vector<way>& list, block const& outer, shape_group const& shape, int levels, double classical);
  void add_explicit(std::vector<way>& list, block const& next, std::vector<way> const& below, known_algorithm const& x,
                    double classical);

  palette const& from_;
  prices const price_;
  problem const& shape_;
  search_limits const& limits_;
  std::unordered_map<key, block, hash> known_;
  std::size_t priced_ = 0;
};

}  // namespace heptad
