// SPDX-License-Identifier: BSD-3-Clause
// The blocks that will be packed next, walked cache line by cache line while the current product computes: the
// macro-kernel asks for a few lines between k-steps, so that packing later reads from L2.
// Every function is inlined always: files compiled for different instruction sets must not share a copy.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heptad::cpu {

struct source_stream {
  /// Adds a rectangle: `runs` runs of `bytes` contiguous bytes, `stride` bytes apart. Ignored once the table is full.
  [[gnu::always_inline]] void add(void const* first, std::int64_t bytes, std::int64_t stride,
                                  std::int64_t runs) noexcept {
    if (count_ == capacity || bytes <= 0 || runs <= 0) return;
    rectangles_[count_++] = {static_cast<char const*>(first), (bytes + 63) / 64, stride, runs};
    lines_ += (bytes + 63) / 64 * runs;
  }

  /// Lines not yet asked for.
  [[nodiscard, gnu::always_inline]] std::int64_t lines() const noexcept { return lines_; }

  /// Lines to ask for at each of the `calls` opportunities that are left.
  [[gnu::always_inline]] void pace(std::int64_t calls) noexcept {
    per_call_ = calls > 0 ? static_cast<int>((lines_ + calls - 1) / calls) : 0;
  }

  [[gnu::always_inline]] void advance() noexcept {
    int budget = lines_ < per_call_ ? static_cast<int>(lines_) : per_call_;
    lines_ -= budget;
    while (budget-- > 0) {
      rectangle const& r = rectangles_[current_];
      __builtin_prefetch(r.first + run_ * r.stride + line_ * 64, 0, 2);
      if (++line_ == r.lines) {
        line_ = 0;
        if (++run_ == r.runs) run_ = 0, ++current_;
      }
    }
  }

private:
  struct rectangle {
    char const* first;
    std::int64_t lines, stride, runs;
  };
  static constexpr int capacity = 32;
  rectangle rectangles_[capacity];
  int count_ = 0, current_ = 0, per_call_ = 0;
  std::int64_t lines_ = 0, run_ = 0, line_ = 0;
};

}  // namespace heptad::cpu
