// SPDX-License-Identifier: BSD-3-Clause
// Workspace: large blocks leased by one call at a time and kept for the next. There are never more blocks than calls at
// once have leased. Failure is an answer (an empty lease), not an exception: the caller then plans smaller.
#pragma once

#include <cstddef>
#include <filesystem>
#include <mutex>
#include <utility>
#include <vector>

namespace heptad {

class memory_pool {
public:
  struct block {
    std::byte* data = nullptr;
    std::size_t bytes = 0;
  };

  /// A block that goes back to its pool, which must outlive the lease.
  class lease {
  public:
    lease() = default;
    lease(lease&& other) noexcept : pool_(std::exchange(other.pool_, nullptr)), block_(other.block_) {}
    lease& operator=(lease&& other) noexcept {
      std::swap(pool_, other.pool_);
      std::swap(block_, other.block_);
      return *this;
    }
    ~lease() {
      if (pool_ != nullptr) pool_->give_back(block_);
    }
    explicit operator bool() const noexcept { return pool_ != nullptr; }
    [[nodiscard]] std::byte* data() const noexcept { return block_.data; }

  private:
    friend class memory_pool;
    lease(memory_pool* pool, block b) noexcept : pool_(pool), block_(b) {}
    memory_pool* pool_ = nullptr;
    block block_;
  };

  memory_pool() = default;
  ~memory_pool();
  memory_pool(memory_pool const&) = delete;
  memory_pool& operator=(memory_pool const&) = delete;

  /// At least `bytes`, 64-byte aligned (huge pages from 2 MiB up), contents undefined. Empty when there is no memory.
  [[nodiscard]] lease take(std::size_t bytes) noexcept;

  /// Frees every block that is not leased.
  void release() noexcept;

private:
  void give_back(block b) noexcept;

  std::mutex mutex_;
  std::vector<block> idle_;
};

/// Bytes that the process may still take: the least of the machine's available memory and of what is left of the limits
/// of its control group (version 2), of the groups above that, and of its address space.
std::size_t free_memory();
/// The same by the files below `proc` and `sys`, of which any may be missing. address_space: the limit in bytes;
/// SIZE_MAX: none.
std::size_t free_memory(std::filesystem::path const& proc, std::filesystem::path const& sys, std::size_t address_space);

/// For tests: asked before every allocation of a block; false makes it fail. Null: every allocation is tried.
using allocation_gate = bool (*)(std::size_t bytes);
void set_allocation_gate(allocation_gate gate) noexcept;

}  // namespace heptad
