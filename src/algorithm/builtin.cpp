// SPDX-License-Identifier: BSD-3-Clause
// The table of built-in algorithms: the files under algorithms/, embedded at build time, and their symmetries.
#include <algorithm>

#include "src/algorithm/algorithm.hpp"
#include "src/algorithm/embedded.hpp"

namespace heptad {
namespace {

using table = std::vector<std::shared_ptr<algorithm const>>;

void add(table& known, algorithm x) { known.push_back(std::make_shared<algorithm const>(std::move(x))); }

/// The other orders of the sides, as huang233 and huang332 from huang323.
void add_symmetries(table& known, algorithm const& x) {
  auto const digits = [](algorithm const& y) {
    return std::to_string(y.m) + std::to_string(y.k) + std::to_string(y.n);
  };
  std::string stem = x.name;
  if (stem.ends_with(digits(x))) stem.resize(stem.size() - digits(x).size());
  algorithm const rotated = rotate(x);
  algorithm const rotated_twice = rotate(rotated);
  for (algorithm y : {rotated, rotated_twice, transpose(x), transpose(rotated), transpose(rotated_twice)}) {
    y.name = stem + digits(y);
    auto const same_shape = [&](auto const& z) {
      return (z->name == y.name || z->name == x.name) && z->m == y.m && z->k == y.k && z->n == y.n;
    };
    if (std::any_of(known.begin(), known.end(), same_shape)) continue;
    verify(y);
    add(known, std::move(y));
  }
}

table load() {
  table known;
  for (embedded_file const& file : embedded_algorithms()) {
    algorithm x = parse_algorithm(std::string(file.text), file.name);
    add(known, x);
    if (x.m != x.k || x.k != x.n) add_symmetries(known, x);
  }
  return known;
}

}  // namespace

std::vector<std::shared_ptr<algorithm const>> const& algorithms() {
  static table const known = load();
  return known;
}

std::shared_ptr<algorithm const> find_algorithm(std::string const& name) {
  auto const& known = algorithms();
  auto const found = std::find_if(known.begin(), known.end(), [&](auto const& x) { return x->name == name; });
  return found == known.end() ? nullptr : *found;
}

}  // namespace heptad
