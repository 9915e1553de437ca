// SPDX-License-Identifier: BSD-3-Clause
#include "src/plan/palette.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <utility>

namespace heptad {
namespace {

bool beats_fused(known_algorithm const& x, known_algorithm const& y) {
  level_traffic const &a = x.traffic, &b = y.traffic;
  return a.rank <= b.rank && a.terms_A <= b.terms_A && a.terms_B <= b.terms_B && a.terms_C <= b.terms_C &&
         x.accuracy.growth <= y.accuracy.growth;
}

bool beats_passes(known_algorithm const& x, known_algorithm const& y) {
  if (x.traffic.rank > y.traffic.rank || x.accuracy.growth > y.accuracy.growth) return false;
  auto const moved_A = [](level_passes const& p) { return p.sums_A > 0 ? p.of_A.all + p.sums_A : 0; };
  auto const moved_B = [](level_passes const& p) { return p.sums_B > 0 ? p.of_B.all + p.sums_B : 0; };
  auto const moved_C = [](level_passes const& p) { return p.read_C + p.overwritten_C + 2 * p.accumulated_C; };
  for (bool const overwrite : {false, true}) {
    level_passes const &a = x.traffic.in({overwrite, false, true, true}),
                       &b = y.traffic.in({overwrite, false, true, true});
    if (moved_A(a) > moved_A(b) || moved_B(a) > moved_B(b) || moved_C(a) > moved_C(b) ||
        a.sums_A + a.sums_B + a.temporaries > b.sums_A + b.sums_B + b.temporaries)
      return false;
  }
  return true;
}

template <typename Beats>
std::vector<known_algorithm const*> unbeaten(std::vector<known_algorithm const*> const& all, Beats beats) {
  std::vector<known_algorithm const*> kept;
  for (known_algorithm const* x : all) {
    if (std::ranges::any_of(kept, [&](known_algorithm const* y) { return beats(*y, *x); })) continue;
    std::erase_if(kept, [&](known_algorithm const* y) { return beats(*x, *y); });
    kept.push_back(x);
  }
  return kept;
}

/// Fused sums of more blocks than this on average take up to a third longer than predicted (3072³ with ⟨4,4,4;48⟩):
/// such algorithms are only used when they are named.
constexpr double most_blocks_a_sum = 4;

bool has_short_sums(algorithm const& x) { return nonzeros(x) <= 3 * most_blocks_a_sum * x.rank(); }

using shape_groups = std::vector<std::shared_ptr<shape_group const>>;

shape_groups group(std::vector<algorithm_header> const& all, bool named) {
  std::map<std::array<int, 3>, std::vector<algorithm_header>> by_shape;
  for (algorithm_header const& x : all)
    if (x.rank < x.m * x.k * x.n) by_shape[{x.m, x.k, x.n}].push_back(x);
  shape_groups groups;
  for (auto const& [sides, same] : by_shape) {
    std::vector<std::string> names;
    for (algorithm_header const& x : same) names.push_back(x.name);
    int const rank = std::ranges::min(same, {}, &algorithm_header::rank).rank;
    groups.push_back(std::make_shared<shape_group const>(sides[0], sides[1], sides[2], rank, std::move(names), named));
  }
  return groups;
}

/// Passes over more blocks at once than this take up to a sixth longer than predicted (4096³ with <5,4,3;47>): such
/// algorithms are only used when they are named.
constexpr int most_blocks = 16;

shape_groups const& all_groups() {
  static constinit lasting<shape_groups const> all;
  return all.get([] {
    std::vector<algorithm_header> few = known_algorithms();
    std::erase_if(few, [](auto const& x) { return std::max({x.m * x.k, x.k * x.n, x.m * x.n}) > most_blocks; });
    return group(few, false);
  });
}

algorithm_header header_of(std::string const& name) {
  auto const x = find_algorithm(name);
  return {name, x->source, x->m, x->k, x->n, x->rank()};
}

}  // namespace

void shape_group::load() const {
  loaded_.call([this] {
    std::vector<known_algorithm const*> all;
    for (std::string const& name : names_)
      if (auto const x = find_algorithm(name); named_ || has_short_sums(*x)) all.push_back(&know(x));
    passes_ = unbeaten(all, beats_passes);
    fused_ = unbeaten(all, beats_fused);
  });
}

palette::palette(std::string const& name, bool only_halves) {
  if (name != "auto") shapes = group({header_of(name)}, true);
  else
    std::ranges::copy_if(all_groups(), std::back_inserter(shapes),
                         [&](auto const& shape) { return !only_halves || shape->blocks().halves(); });
}

palette::palette(std::vector<std::string> const& names) {
  std::vector<algorithm_header> headers;
  std::ranges::transform(names, std::back_inserter(headers), header_of);
  shapes = group(headers, true);
}

}  // namespace heptad
