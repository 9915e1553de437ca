// SPDX-License-Identifier: BSD-3-Clause
// Common subexpressions of the sums of U, V and W, found greedily. A pair of terms a·x + b·y occurs in a sum also as a
// multiple of itself, so what is counted is (x, y, b/a).
#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <random>
#include <tuple>

#include "src/algorithm/programs.hpp"

namespace heptad {
namespace {

constexpr int tries = 16;  // ways to break ties

/// x + ratio · y, x < y.
struct pair {
  int x, y;
  rational ratio;

  [[nodiscard]] auto key() const { return std::tuple(x, y, ratio.num(), ratio.den()); }
  friend bool operator<(pair const& a, pair const& b) { return a.key() < b.key(); }
};

rational quotient(rational a, rational b) { return a * rational(b.den(), b.num()); }

pair pair_of(linear_term const& a, linear_term const& b) {
  return a.value < b.value ? pair{a.value, b.value, quotient(b.coefficient, a.coefficient)}
                           : pair{b.value, a.value, quotient(a.coefficient, b.coefficient)};
}

using sums = std::vector<std::vector<linear_term>>;

std::map<pair, int> count_pairs(sums const& all) {
  std::map<pair, int> count;
  for (auto const& sum : all)
    for (std::size_t i = 0; i < sum.size(); ++i)
      for (std::size_t j = i + 1; j < sum.size(); ++j) ++count[pair_of(sum[i], sum[j])];
  return count;
}

/// Value `name` takes the place of the pair in every sum that has a multiple of it.
void replace(sums& all, pair const& p, int name) {
  auto const term_of = [](std::vector<linear_term>& sum, int value) {
    return std::find_if(sum.begin(), sum.end(), [value](linear_term const& t) { return t.value == value; });
  };
  for (auto& sum : all) {
    auto const x = term_of(sum, p.x), y = term_of(sum, p.y);
    if (x == sum.end() || y == sum.end() || !(y->coefficient == p.ratio * x->coefficient)) continue;
    x->value = name;
    sum.erase(y);
  }
}

/// The columns of a matrix as sums of its rows.
additions_program greedy(std::vector<rational> const& matrix, int rows, int cols, std::mt19937& random) {
  sums all(cols);
  for (int q = 0; q < cols; ++q)
    for (int i = 0; i < rows; ++i) {
      rational const& entry = matrix[static_cast<std::size_t>(i) * cols + q];
      if (!entry.is_zero()) all[q].push_back({i, entry});
    }
  additions_program program{rows, {}, {}};
  while (true) {
    std::map<pair, int> const count = count_pairs(all);
    int most = 1, ties = 0;
    for (auto const& [p, n] : count) {
      if (n > most) most = n, ties = 0;
      ties += n == most;
    }
    if (most == 1) break;
    int pick = static_cast<int>(random() % static_cast<unsigned>(ties));
    auto const chosen =
        std::find_if(count.begin(), count.end(), [&](auto const& c) { return c.second == most && pick-- == 0; });
    replace(all, chosen->first, rows + static_cast<int>(program.steps.size()));
    program.steps.push_back({{chosen->first.x, 1}, {chosen->first.y, chosen->first.ratio}});
  }
  for (auto& sum : all) {
    if (sum.empty()) {
      program.outputs.push_back({0, 0});
    } else if (sum.size() == 1) {
      program.outputs.push_back(sum.front());
    } else {
      program.outputs.push_back({rows + static_cast<int>(program.steps.size()), 1});
      program.steps.push_back(std::move(sum));
    }
  }
  return program;
}

additions_program shared_program(std::vector<rational> const& matrix, int rows, int cols) {
  std::vector<rational> turned;
  turned.reserve(matrix.size());
  for (int q = 0; q < cols; ++q)
    for (int i = 0; i < rows; ++i) turned.push_back(matrix[static_cast<std::size_t>(i) * cols + q]);
  std::mt19937 random;
  additions_program best = plain_program(matrix, rows, cols);
  for (int i = 0; i < tries; ++i)
    for (additions_program& program :
         std::array{greedy(matrix, rows, cols, random), transposed(greedy(turned, cols, rows, random))})
      if (additions(program) < additions(best)) best = std::move(program);
  return best;
}

}  // namespace

void share_sums(algorithm& x) { set_programs(x, shared_program); }

}  // namespace heptad
