// SPDX-License-Identifier: BSD-3-Clause
// The blocks that will be read next, walked cache line by cache line while the current product computes: the
// macro-kernel asks for a few lines between k-steps, so that packing later reads from L2, or the next tiles from L1.
// Every function is inlined always: files compiled for different instruction sets must not share a copy.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heptad::cpu {

/// The cache that lines are asked into ahead; nowhere: they are in one, or followed by the hardware.
enum class asked_into { nowhere, first_level, second_level };

struct source_stream {
  [[gnu::always_inline]] explicit source_stream(asked_into where = asked_into::second_level) noexcept
      : first_level_(where == asked_into::first_level) {}

  /// Adds a rectangle: `runs` runs of `bytes` contiguous bytes, `stride` bytes apart. Ignored once the table is full.
  [[gnu::always_inline]] void add(void const* first, std::int64_t bytes, std::int64_t stride,
                                  std::int64_t runs) noexcept {
    if (count_ == capacity || bytes <= 0 || runs <= 0) return;
    // Runs need not begin lines: each is asked for from its first line on, and as far as the worst of them reaches.
    std::int64_t const before = stride % line == 0 ? reinterpret_cast<std::intptr_t>(first) % line : line - 1;
    std::int64_t const pairs_a_run = (before + bytes + pair - 1) / pair;
    rectangles_[count_++] = {static_cast<char const*>(first), pairs_a_run * pair, stride, runs};
    pairs_ += pairs_a_run * runs;
  }

  [[nodiscard, gnu::always_inline]] bool empty() const noexcept { return count_ == 0; }

  /// Spreads the lines over the next `calls` of advance(). Once, after the last rectangle.
  [[gnu::always_inline]] void pace(std::int64_t calls) noexcept {
    per_call_ = calls > 0 ? static_cast<int>((pairs_ + calls - 1) / calls) : 0;
    begin_run();
  }

  /// Few instructions: a core that shares its issue slots with a second thread pays for each.
  [[gnu::always_inline]] void advance() noexcept {
    for (int n = per_call_; n > 0; --n) {
      ask(at_);
      ask(at_ + line);
      at_ += pair;
      if (at_ != end_) continue;
      if (++run_ == rectangles_[current_].runs) run_ = 0, ++current_;
      if (current_ == count_) {
        per_call_ = 0;
        return;
      }
      begin_run();
    }
  }

private:
  static constexpr std::int64_t line = 64, pair = 2 * line;  // bytes; two lines are asked for together
  struct rectangle {
    char const* first;
    std::int64_t bytes, stride, runs;
  };
  [[gnu::always_inline]] void ask(char const* wanted) const noexcept {
    if (first_level_) __builtin_prefetch(wanted, 0, 3);
    else __builtin_prefetch(wanted, 0, 2);
  }
  [[gnu::always_inline]] void begin_run() noexcept {
    rectangle const& r = rectangles_[current_];
    at_ = r.first + run_ * r.stride;
    at_ -= reinterpret_cast<std::intptr_t>(at_) % line;
    end_ = at_ + r.bytes;
    if (first_level_ || r.stride < far_apart || run_ + runs_ahead >= r.runs) return;
    char const* const later = at_ + runs_ahead * r.stride;
    __builtin_prefetch(later, 0, 3);
    __builtin_prefetch(later + r.bytes - line, 0, 3);
  }

  // The first and the last line of a later run go to the first level, for the sake of their pages: for such a prefetch
  // a Zen 4 looks up an address beside all else, and for one to the second level it holds the core up, 10 to 40 ns
  // where the page is none of those it remembers. Measured with A of 8 to 34 MB in pages of 4 KiB, 8 to 128 columns of
  // C: 1 to 1.2 times as fast; in pages of 2 MiB 0.99 to 1.01 times. Runs less far apart share pages, and lose by it.
  static constexpr std::int64_t far_apart = 3 << 10, runs_ahead = 2;

  static constexpr int capacity = 32;
  bool const first_level_;
  rectangle rectangles_[capacity];
  int count_ = 0, current_ = 0, per_call_ = 0;
  std::int64_t pairs_ = 0, run_ = 0;
  char const *at_ = nullptr, *end_ = nullptr;
};

}  // namespace heptad::cpu
