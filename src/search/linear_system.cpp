// SPDX-License-Identifier: BSD-3-Clause
#include "src/search/linear_system.hpp"

#include <cstddef>
#include <utility>

namespace heptad::search {

std::optional<std::vector<bool>> linear_system::solve(keep_going const& may_go_on) {
  auto const bit = [](std::vector<std::uint64_t> const& row, int i) { return (row[i / 64] >> (i % 64) & 1) != 0; };
  std::vector<int> pivots;  // the unknown that row r is solved for
  for (int i = 0; i < unknowns_ && pivots.size() < rows_.size(); ++i) {
    std::size_t const r = pivots.size();
    std::size_t p = r;
    while (p < rows_.size() && !bit(rows_[p], i)) ++p;
    if (p == rows_.size()) continue;
    std::swap(rows_[p], rows_[r]);
    for (std::size_t q = p + 1; q < rows_.size(); ++q) {
      constexpr std::size_t rows_a_question = 1024;
      if ((q - p) % rows_a_question == 1 && !may_go_on()) return std::nullopt;
      if (bit(rows_[q], i))
        for (int w = i / 64; w < words_; ++w) rows_[q][w] ^= rows_[r][w];
    }
    pivots.push_back(i);
  }
  for (std::size_t q = pivots.size(); q < rows_.size(); ++q)
    if (bit(rows_[q], unknowns_)) return std::nullopt;

  std::vector<bool> solution(unknowns_, false);
  for (std::size_t r = pivots.size(); r-- > 0;) {
    bool value = bit(rows_[r], unknowns_);
    for (std::size_t later = r + 1; later < pivots.size(); ++later)
      if (solution[pivots[later]] && bit(rows_[r], pivots[later])) value = !value;
    solution[pivots[r]] = value;
  }
  return solution;
}

}  // namespace heptad::search
