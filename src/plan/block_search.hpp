// SPDX-License-Identifier: BSD-3-Clause
// The best ways to do a block on one worker: what a block costs depends on its shape alone, so that the same blocks
// within different lists of levels are looked at once. Dynamic programming from the leaves out. What is priced is kept
// for searches within other limits.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory_resource>
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

/// The best ways of so many levels, and the limits within which they are the best.
struct best_ways {
  std::pmr::vector<way> list;  // cheapest first
  double least_growth = 0, least_workspace = 0;
  double most_growth = std::numeric_limits<double>::infinity(), most_workspace = most_growth;

  /// As many are kept, and each takes less than this.
  [[nodiscard]] bool all_below(double seconds) const noexcept;
  [[nodiscard]] bool hold(search_limits const& l) const noexcept {
    return least_growth <= l.growth && l.growth <= most_growth && least_workspace <= l.workspace &&
           l.workspace <= most_workspace;
  }
  /// They depend on these, too.
  void depend_on(best_ways const& inner) noexcept;
  /// Within the limits? From now on they hold within those that say the same.
  bool allow(double growth, double workspace, search_limits const& limits) noexcept;
};

class block_search {
public:
  using divisors = std::array<std::uint32_t, 3>;

  /// An algorithm as an explicit level, or as a task level in one slot: what is around its products.
  struct around {
    known_algorithm const* algorithm;
    level_passes const *over, *onto;  // of a node that overwrites its C, and of one that adds to it
    double overwriting, adding;       // seconds of the passes of such nodes
    bool leaves_in_memory;            // what its products are formed from and in
    double sums, temporaries;         // bytes
  };
  /// One fused level of a shape, or two, by all algorithms.
  struct fused_levels {
    shape_group const *outer, *second;  // second: of two
    double least;                       // seconds of the products alone
    struct choice {
      known_algorithm const *outer, *second;
      double seconds;
    };
    std::optional<std::pmr::vector<choice>> choices;  // once they are priced
  };
  struct block;
  /// A shape that a block may be divided in; what is priced of it when it is asked for.
  struct division {
    shape_group const* shape;
    block* inside = nullptr;
    std::optional<std::pmr::vector<around>> algorithms;
    std::array<std::optional<std::pmr::vector<fused_levels>>, 2> fused;  // of one level, of two with this one outside
  };

  struct block {
    explicit block(std::pmr::memory_resource* memory) : ways(memory) {}

    divisors d{};
    bool mixed = false;  // a level of a shape that does not halve is above
    extent size{};
    double leaf = 0;          // seconds of a classical product
    double in_cache = 0;      // and if its operands were in an inner cache, as those of a fused product may be
    double before_fused = 0;  // of a fused level: fetching its operands, or looking at them if it is the outermost
    double leaf_in_memory = 0, fused_in_memory = 0;  // what fetching takes beyond that if passes leave all in memory
    std::optional<std::pmr::vector<division>> divisions;
    std::pmr::vector<std::optional<best_ways>> ways;  // by the number of levels; none: not yet known
  };

  block_search(palette const& from, element_type type, problem const& shape, int workers,
               machine_profile const& machine)
      : from_(from), price_(type, machine), shape_(shape), workers_(workers) {}

  [[nodiscard]] problem const& shape() const noexcept { return shape_; }

  /// Of everything that is asked for from now on.
  void set(search_limits const& limits);

  /// It stays where it is, until limits are set that differ in more than growth and workspace.
  block& at(divisors d, bool mixed);
  /// The best ways to do the block with exactly so many levels.
  std::pmr::vector<way> const& ways(block& x, int levels) { return best(x, levels).list; }
  [[nodiscard]] static double seconds_of_leaf(block const& x) { return 2 * x.leaf; }  // as way::seconds()

  std::pmr::vector<division>& divisions(block& x);
  block& inside(block const& x, division& by);
  std::pmr::vector<around> const& algorithms(block const& x, division& by);
  [[nodiscard]] double growth(known_algorithm const& x) const noexcept;

  /// What a way takes beyond its seconds below passes that leave all in memory.
  [[nodiscard]] static double from_memory(block const& x, way const& w) noexcept;

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

  best_ways const& best(block& x, int levels);
  [[nodiscard]] bool fits(extent const& block, level_counts const& t) const;
  /// At most one level of a plan does not halve: more of them open a space that no plan within a millisecond covers,
  /// and what they gain over one is little.
  [[nodiscard]] bool may_follow(shape_group const& shape, bool mixed) const noexcept;
  /// All but the whole problem are blocks of explicit or task levels.
  [[nodiscard]] static bool inside_passes(block const& x) noexcept { return x.d != divisors{1, 1, 1}; }
  /// Of fused levels, in the better variant.
  double price(block const& x, fused_levels const& f, level_counts const& fused);
  [[nodiscard]] around price_around(extent const& inner, known_algorithm const& x) const;
  std::pmr::vector<fused_levels>& fused(block const& x, division& by, int levels);
  std::pmr::vector<fused_levels::choice> const& priced(block const& x, fused_levels& f);

  void add_fused(best_ways& best, block const& x, fused_levels& f);
  void add_explicit(best_ways& best, block const& outer, division& by, int levels);
  void add_explicit(best_ways& best, block const& inner, std::pmr::vector<way> const& below, around const& x,
                    double most) const;

  palette const& from_;
  prices const price_;
  problem const& shape_;
  int const workers_;
  search_limits limits_;
  // Thousands of small lists that end together: asking the heap for each was a sixth of a plan's time, and doing so in
  // growing pieces, whose pages the heap then gives back to the system, a quarter.
  std::pmr::monotonic_buffer_resource memory_{1 << 20};
  std::pmr::unordered_map<key, block, hash> known_{&memory_};
  std::size_t priced_ = 0;
};

}  // namespace heptad
