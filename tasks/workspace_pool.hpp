// SPDX-License-Identifier: BSD-3-Clause
// The buffers of the levels. All nodes of one depth have one shape; those of one slot share their buffers, so that the
// accesses of the next node wait for those of the one before.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "src/plan/level_schedule.hpp"
#include "tasks/block.hpp"

namespace heptad {

class workspace_pool {
public:
  struct key {
    int depth, slot;
    role what;
    int index;
    auto operator<=>(key const&) const = default;
  };

  /// Appends to `buffers`, and counts what they take in `elements`.
  workspace_pool(std::vector<buffer>& buffers, std::int64_t& elements, std::int64_t element_bytes,
                 alignment_rule alignment = alignment_rule::cpu)
      : buffers_(buffers), elements_(elements), element_bytes_(element_bytes), alignment_(alignment) {}

  /// The whole buffer, made at its first use.
  block get(key const& name, std::int64_t rows, std::int64_t cols, orientation order) {
    auto const [found, fresh] = spaces_.try_emplace(name, first_buffer + static_cast<int>(buffers_.size()));
    if (fresh) {
      bool const columns = order == orientation::column_major;
      std::int64_t const ld = leading_dimension(columns ? rows : cols);
      buffers_.push_back({elements_, rows, cols, ld, order});
      std::int64_t const gap = alignment_ == alignment_rule::cpu ? stagger_bytes / element_bytes_ : 0;
      elements_ += ld * (columns ? cols : rows) + gap;
    }
    return {found->second, 0, 0, rows, cols};
  }

private:
  [[nodiscard]] std::int64_t leading_dimension(std::int64_t extent) const {
    if (alignment_ == alignment_rule::cpu) return padded_leading_dimension(extent, element_bytes_);
    std::int64_t const sector = device_alignment / element_bytes_;
    return (extent + sector - 1) / sector * sector;
  }

  // Five cache lines between buffers: the streams of one pass then start at different offsets of a page.
  static constexpr std::int64_t stagger_bytes = 320;

  std::vector<buffer>& buffers_;
  std::int64_t& elements_;
  std::int64_t const element_bytes_;
  alignment_rule const alignment_;
  std::map<key, int> spaces_;
};

}  // namespace heptad
