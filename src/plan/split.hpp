// SPDX-License-Identifier: BSD-3-Clause
// One product shared by several computers, CPU and devices: who computes which block of C, so that all end at the same
// time. Pure: the rates are functions that the caller gives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace heptad {

/// Somebody who can compute a block of C.
struct participant {
  /// Predicted for a block of C of so many rows and columns, positive; infinite where it cannot. Asked more than once.
  std::function<double(std::int64_t rows, std::int64_t cols)> seconds;
  std::optional<double> share{};  ///< of the elements of C, 0 … 1; absent: what ends with the others
};

struct split_part {
  std::size_t who = 0;  ///< number of the participant
  std::int64_t row = 0, col = 0, rows = 0, cols = 0;
  double seconds = 0;  ///< predicted
};

struct split {
  std::vector<split_part> parts;  ///< blocks that cover C once; at most one of a participant
  double seconds = 0;             ///< predicted: of the part that takes longest
};

/// C, of rows × cols > 0 elements, is halved again and again between groups of participants of about the same speed,
/// across its longer side, where their speeds say; speeds are then corrected by the predictions for the blocks. A
/// participant must make the product 10 % faster, or it gets nothing. At most one participant may have a share given.
/// Throws error{invalid_argument} when nobody can compute C.
split split_product(std::int64_t rows, std::int64_t cols, std::span<participant const> all);

}  // namespace heptad
