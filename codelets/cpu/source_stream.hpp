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
    auto const* at = static_cast<char const*>(first);
    // Runs that all begin as far within a line are asked for from its begin on; others need not be, and reach as far as
    // the worst of them.
    std::int64_t before = line - 1;
    if (stride % line == 0) at -= before = reinterpret_cast<std::intptr_t>(first) % line;
    std::int64_t const pairs_a_run = (before + bytes + pair - 1) / pair;
    rectangles_[count_++] = {at, stride, at + runs * stride, pairs_a_run};
    pairs_ += pairs_a_run * runs;
  }

  [[nodiscard, gnu::always_inline]] bool empty() const noexcept { return count_ == 0; }

  /// Spreads the lines over the next `calls` of advance(). Once, after the last rectangle.
  [[gnu::always_inline]] void pace(std::int64_t calls) noexcept {
    per_call_ = calls > 0 ? static_cast<int>((pairs_ + calls - 1) / calls) : 0;
    begin_rectangle();
  }

  /// Few instructions: a core that shares its issue slots with a second thread pays for each.
  [[gnu::always_inline]] void advance() noexcept {
    for (int n = per_call_; n > 0; --n) {
      ask(at_);
      ask(at_ + line);
      at_ += pair;
      if (--pairs_left_ > 0) continue;
      run_ += here_.stride;
      if (run_ != here_.end) {
        begin_run();
      } else if (++current_ < count_) {
        begin_rectangle();
      } else {
        per_call_ = 0;
        return;
      }
    }
  }

private:
  static constexpr std::int64_t line = 64, pair = 2 * line;  // bytes; two lines are asked for together
  struct rectangle {
    char const* first;
    std::int64_t stride;
    char const* end;
    std::int64_t pairs_a_run;
  };
  [[gnu::always_inline]] void ask(char const* wanted) const noexcept {
    if (first_level_) __builtin_prefetch(wanted, 0, 3);
    else __builtin_prefetch(wanted, 0, 2);
  }
  [[gnu::always_inline]] void begin_rectangle() noexcept {
    here_ = rectangles_[current_];
    run_ = here_.first;
    pages_ahead_ = first_level_ || here_.stride < far_apart ? 0 : runs_ahead * here_.stride;
    begin_run();
  }
  [[gnu::always_inline]] void begin_run() noexcept {
    at_ = run_;
    pairs_left_ = here_.pairs_a_run;
    char const* const later = run_ + pages_ahead_;
    if (pages_ahead_ == 0 || later >= here_.end) return;
    __builtin_prefetch(later, 0, 3);
    __builtin_prefetch(later + pairs_left_ * pair - line, 0, 3);
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
  std::int64_t pairs_ = 0, pairs_left_ = 0, pages_ahead_ = 0;
  rectangle here_{};  // of the table, at hand
  char const *run_ = nullptr, *at_ = nullptr;
};

}  // namespace heptad::cpu
