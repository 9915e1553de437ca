// SPDX-License-Identifier: BSD-3-Clause
// Errors of products beside their bounds: a grid of elements of C against sums in extended precision.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <heptad/heptad.hpp>

namespace heptad::bench {

/// How the entries are drawn. `rows`: rows of A and columns of B times powers of ten from −6 to 6; `inner`: columns of
/// A and rows of B times powers from −4 to 4.
enum class data_kind { uniform, positive, rows, inner };
char const* data_name(data_kind kind);

struct accuracy_case {
  char type = 'd';  ///< 'd' or 's'
  std::int64_t n = 1024;
  data_kind data = data_kind::uniform;
};

/// One algorithm in so many levels; 0 levels: classical.
struct accuracy_contestant {
  std::string algorithm;
  int levels = 0;
  scaling_kind scaling = scaling_kind::none;
};

/// One row of the record a contestant. The classical product is measured first, for the growth.
nlohmann::json measure_accuracy(accuracy_case const& what, std::vector<accuracy_contestant> const& who,
                                std::function<void(std::string const&)> const& say);

}  // namespace heptad::bench
