// SPDX-License-Identifier: BSD-3-Clause
// An algorithm in the JSON of the commands that name some.
#pragma once

#include <nlohmann/json.hpp>

#include "src/algorithm/algorithm.hpp"

namespace heptad::tools {

inline nlohmann::json describe_algorithm(algorithm const& x) {
  return {{"name", x.name},
          {"m", x.m},
          {"k", x.k},
          {"n", x.n},
          {"rank", x.rank()},
          {"nonzeros", nonzeros(x)},
          {"additions", all_additions(x)},
          {"stability_factor", stability_factor(x)},
          {"source", x.source}};
}

}  // namespace heptad::tools
