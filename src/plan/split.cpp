// SPDX-License-Identifier: BSD-3-Clause
#include "src/plan/split.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include <heptad/heptad.hpp>

namespace heptad {
namespace {

constexpr double least_gain = 1.1;  // that one more participant must promise: each slows the others, by memory and link
constexpr double balanced = 1.02;   // the longest part over the shortest
constexpr int most_rounds = 12;
// Cuts at multiples of 64 leave blocks that three levels of a ⟨2,2,2⟩ algorithm divide.
constexpr std::int64_t cut_step = 64;
constexpr double never = std::numeric_limits<double>::infinity();

struct block {
  std::int64_t row, col, rows, cols;
  [[nodiscard]] double elements() const { return double(rows) * double(cols); }
};

/// Where to cut a side in two of these weights.
std::int64_t cut_at(std::int64_t side, double first, double second) {
  double const wish = double(side) * first / (first + second);
  auto const at = static_cast<std::int64_t>(std::llround(side >= 2 * cut_step ? wish / cut_step : wish));
  return std::min(side >= 2 * cut_step ? at * cut_step : at, side);
}

class splitter {
public:
  splitter(std::int64_t rows, std::int64_t cols, std::span<participant const> all)
      : whole_{0, 0, rows, cols}, all_(all) {}

  split run() {
    std::vector<std::size_t> crew;
    for (std::size_t who = 0; who < all_.size(); ++who) {
      auto const& share = all_[who].share;
      if (share == 1.0) crew.assign(1, who);
      if (share == 1.0) break;
      if (share != 0.0 && seconds(who, whole_) < never) crew.push_back(who);
    }
    if (crew.empty()) throw error(status::invalid_argument, "nobody can compute C: no device can, and no CPU may");
    drop_hopeless(crew);
    split best = balance(crew);
    // Without those who do least: fewer are as good unless the others gain.
    while (drop_least(crew, best)) {
      split fewer = balance(crew);
      if (planned_times(fewer).second <= planned_times(best).second * least_gain) best = std::move(fewer);
    }
    return best;
  }

private:
  [[nodiscard]] double seconds(std::size_t who, block const& b) const {
    if (b.rows == 0 || b.cols == 0) return 0;
    return all_[who].seconds(b.rows, b.cols);
  }

  /// The shortest and the longest part of those that have no share given, if there are any.
  [[nodiscard]] std::pair<double, double> planned_times(split const& s) const {
    std::pair<double, double> times{never, 0};
    for (split_part const& part : s.parts)
      if (!all_[part.who].share) times = {std::min(times.first, part.seconds), std::max(times.second, part.seconds)};
    return times;
  }

  /// Who would take ten times as long as another for all of C can never promise the least gain: a part is
  /// computed no faster than the whole, for its size.
  void drop_hopeless(std::vector<std::size_t>& crew) const {
    double fastest = never;
    for (std::size_t const who : crew)
      if (!all_[who].share) fastest = std::min(fastest, seconds(who, whole_));
    std::erase_if(
        crew, [&](std::size_t who) { return !all_[who].share && seconds(who, whole_) * (least_gain - 1) > fastest; });
  }

  /// One with a share given stays, and one without.
  bool drop_least(std::vector<std::size_t>& crew, split const& now) const {
    if (std::ranges::count_if(crew, [&](std::size_t who) { return !all_[who].share; }) < 2) return false;
    auto const part_of = [&](std::size_t who) {
      auto const part = std::ranges::find(now.parts, who, &split_part::who);
      if (all_[who].share) return never;
      return part == now.parts.end() ? 0.0 : double(part->rows) * double(part->cols);
    };
    crew.erase(std::ranges::min_element(crew, {}, part_of));
    return true;
  }

  /// A share that is given is a weight in proportion to the others'.
  void give_shares(std::vector<std::size_t> const& crew, std::vector<double>& weights) const {
    double others = 0;
    for (std::size_t const who : crew)
      if (!all_[who].share) others += weights[who];
    for (std::size_t const who : crew)
      if (auto const& share = all_[who].share)
        weights[who] = others > 0 ? others * *share / (1 - std::min(*share, 1 - 1e-9)) : 1;
  }

  split balance(std::vector<std::size_t> const& crew) {
    std::vector<double> weights(all_.size(), 0.0);
    for (std::size_t const who : crew) weights[who] = 1 / seconds(who, whole_);
    split best;
    for (int round = 0; round < most_rounds; ++round) {
      give_shares(crew, weights);
      split now;
      cut(whole_, crew, weights, now.parts);
      for (split_part& part : now.parts) {
        part.seconds = seconds(part.who, {part.row, part.col, part.rows, part.cols});
        now.seconds = std::max(now.seconds, part.seconds);
        weights[part.who] = double(part.rows) * double(part.cols) / part.seconds;
      }
      auto const [shortest, longest] = planned_times(now);
      if (best.parts.empty() || longest < planned_times(best).second) best = std::move(now);
      if (longest <= shortest * balanced) break;
    }
    return best;
  }

  /// Two groups of about the same weight, then each within its side of the cut.
  void cut(block const& b, std::vector<std::size_t> crew, std::vector<double> const& weights,
           std::vector<split_part>& parts) const {
    if (b.elements() == 0) return;
    if (crew.size() == 1) {
      parts.push_back({crew.front(), b.row, b.col, b.rows, b.cols});
      return;
    }
    std::ranges::stable_sort(crew, std::greater<>{}, [&](std::size_t who) { return weights[who]; });
    std::vector<std::size_t> first, second;
    double first_weight = 0, second_weight = 0;
    for (std::size_t const who : crew) {
      bool const to_first = first_weight <= second_weight;
      (to_first ? first : second).push_back(who);
      (to_first ? first_weight : second_weight) += weights[who];
    }
    block one = b, other = b;
    if (b.cols >= b.rows) {
      one.cols = cut_at(b.cols, first_weight, second_weight);
      other.col += one.cols, other.cols -= one.cols;
    } else {
      one.rows = cut_at(b.rows, first_weight, second_weight);
      other.row += one.rows, other.rows -= one.rows;
    }
    cut(one, std::move(first), weights, parts);
    cut(other, std::move(second), weights, parts);
  }

  block const whole_;
  std::span<participant const> all_;
};

}  // namespace

split split_product(std::int64_t rows, std::int64_t cols, std::span<participant const> all) {
  return splitter(rows, cols, all).run();
}

}  // namespace heptad
