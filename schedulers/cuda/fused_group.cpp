// SPDX-License-Identifier: BSD-3-Clause
#include "schedulers/cuda/fused_group.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include <heptad/heptad.hpp>

#include "src/matrix/limits.hpp"

namespace heptad::cuda {
namespace {

/// Divides the sum by its first coefficient, and returns that.
double normalize(std::vector<source>& sum) {
  double const first = sum.front().coefficient;
  for (source& s : sum) s.coefficient /= first;
  return first;
}

}  // namespace

fused_group fused_numbering::add(std::span<product_step const> level, std::int64_t tiles) {
  fused_group group;
  group.first_ticket = static_cast<unsigned>(tickets_);
  tickets_ += static_cast<std::uint64_t>(tiles) * level.size();
  if (tickets_ > std::numeric_limits<unsigned>::max())
    throw error(status::invalid_argument,
                fmt::format("plan.stages: fused products of {} tiles are too many", tickets_));
  std::vector<block> blocks;
  std::vector<std::optional<std::size_t>> last;  // product on each block
  for (product_step const& step : level) {
    std::size_t const most = std::max({step.a.size(), step.b.size(), step.c.size()});
    if (most > most_fused_terms)
      throw error(status::invalid_argument,
                  fmt::format("plan.stages: a fused sum of {} blocks is more than {}", most, most_fused_terms));
    fused_group::product p{step.a, step.b, {}, {}};
    double const factor = normalize(p.a) * normalize(p.b);
    for (target const& t : step.c) {
      auto const number = static_cast<std::size_t>(std::ranges::find(blocks, t.where) - blocks.begin());
      if (number == blocks.size()) blocks.push_back(t.where), last.emplace_back();
      if (number >= turns_.size()) turns_.push_back(0);
      p.c.push_back({{t.where, t.coefficient * factor, t.how}, static_cast<unsigned>(number), turns_[number]++});
      if (last[number] && std::ranges::find(p.after, *last[number]) == p.after.end()) p.after.push_back(*last[number]);
      last[number] = group.products.size();
    }
    group.products.push_back(std::move(p));
  }
  return group;
}

}  // namespace heptad::cuda
