// SPDX-License-Identifier: BSD-3-Clause
// The known algorithms, for tests that must hold for each of them.
#pragma once

#include <limits>
#include <memory>
#include <vector>

#include "src/algorithm/algorithm.hpp"

namespace heptad::test {

/// Those of at most so many products; the cost of some tests grows with the square of that.
inline std::vector<std::shared_ptr<algorithm const>> known(int largest_rank = std::numeric_limits<int>::max()) {
  std::vector<std::shared_ptr<algorithm const>> list;
  for (algorithm_header const& x : known_algorithms())
    if (x.rank <= largest_rank) list.push_back(find_algorithm(x.name));
  return list;
}

}  // namespace heptad::test
