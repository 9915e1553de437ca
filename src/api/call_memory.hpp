// SPDX-License-Identifier: BSD-3-Clause
// Memory for what lasts no longer than a call, kept for the next one. Not a pool of the standard library: those of
// libstdc++ 12 end the process when there is no memory for one of their own chunks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <memory_resource>
#include <vector>

namespace heptad {

/// Hands out its pieces from the first to the last and takes nothing back before reset(): calls that ask for the same
/// find all of it in what earlier ones left. Not synchronised.
class call_memory final : public std::pmr::memory_resource {
public:
  /// Nothing that was handed out may still be in use.
  void reset() noexcept { current_ = used_ = 0; }

private:
  struct piece {
    std::unique_ptr<std::byte[]> bytes;
    std::size_t size = 0;
  };

  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    for (; current_ < pieces_.size(); ++current_, used_ = 0) {
      if (void* const found = from_current(bytes, alignment)) return found;
    }
    constexpr std::size_t smallest = 4096;
    std::size_t const size = std::max({smallest, bytes + alignment, pieces_.empty() ? 0 : 2 * pieces_.back().size});
    pieces_.push_back({std::unique_ptr<std::byte[]>(new std::byte[size]), size});
    return from_current(bytes, alignment);
  }
  void do_deallocate(void*, std::size_t, std::size_t) override {}
  [[nodiscard]] bool do_is_equal(memory_resource const& other) const noexcept override { return this == &other; }

  [[nodiscard]] void* from_current(std::size_t bytes, std::size_t alignment) noexcept {
    piece const& from = pieces_[current_];
    void* place = from.bytes.get() + used_;
    std::size_t left = from.size - used_;
    if (std::align(alignment, bytes, place, left) == nullptr) return nullptr;
    used_ = from.size - left + bytes;
    return place;
  }

  std::vector<piece> pieces_;
  std::size_t current_ = 0, used_ = 0;  // the piece to hand out next, and what is taken of it
};

}  // namespace heptad
