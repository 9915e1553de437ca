// SPDX-License-Identifier: BSD-3-Clause
// Blocks of workspace, and how much memory there is.
#include "src/api/memory.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "src/matrix/limits.hpp"

namespace heptad {
namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20;
constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

std::atomic<allocation_gate> gate{nullptr};

memory_pool::block allocate(std::size_t bytes) noexcept {
  if (auto const ask = gate.load(); ask != nullptr && !ask(bytes)) return {};
  std::size_t const alignment = bytes >= huge_page ? huge_page : cache_line;
  if (bytes > std::numeric_limits<std::size_t>::max() - alignment) return {};
  bytes = (std::max<std::size_t>(bytes, cache_line) + alignment - 1) / alignment * alignment;
  auto* const data = static_cast<std::byte*>(std::aligned_alloc(alignment, bytes));
  if (data == nullptr) return {};
  // Only advice: without huge pages the block is as good, and a little slower.
  if (alignment == huge_page) (void)madvise(data, bytes, MADV_HUGEPAGE);
  return {data, bytes};
}

/// The number after `key` in a file of "key value" lines, or the first number when key is empty.
std::size_t read_number(std::filesystem::path const& path, std::string const& key, std::size_t otherwise) {
  std::ifstream file(path);
  std::string word;
  std::size_t value = 0;
  if (key.empty()) return file >> value ? value : otherwise;
  while (file >> word) {
    if (word == key) return file >> value ? value : otherwise;
  }
  return otherwise;
}

/// What the limit of a control group leaves.
std::size_t left_to(std::filesystem::path const& group) {
  std::size_t const limit = read_number(group / "memory.max", "", unlimited);
  if (limit == unlimited) return unlimited;
  // Pages of the file cache count as used but are given up under pressure.
  std::size_t const used = read_number(group / "memory.current", "", 0);
  std::size_t const cached = read_number(group / "memory.stat", "inactive_file", 0);
  std::size_t const held = used - std::min(used, cached);
  return limit - std::min(limit, held);
}

/// The path of the process's control group below the root; empty for the root itself, and when there is none.
std::filesystem::path control_group(std::filesystem::path const& proc) {
  constexpr std::string_view root = "0::/";  // version 2 has the number 0 and no controllers
  std::ifstream file(proc / "self/cgroup");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(root)) return line.substr(root.size());
  }
  return {};
}

}  // namespace

void set_allocation_gate(allocation_gate ask) noexcept { gate.store(ask); }

memory_pool::~memory_pool() { release(); }

void memory_pool::release() noexcept {
  std::vector<block> released;
  {
    std::lock_guard const lock(mutex_);
    released.swap(idle_);
  }
  for (block const& b : released) {
    // malloc keeps some of what is freed: at least its pages go back to the system.
    if (b.bytes >= huge_page) (void)madvise(b.data, b.bytes, MADV_DONTNEED);
    std::free(b.data);
  }
}

memory_pool::lease memory_pool::take(std::size_t bytes) noexcept {
  block replaced;  // too small: freed before the new one is allocated
  {
    std::lock_guard const lock(mutex_);
    auto const by_size = [](block const& x, block const& y) { return x.bytes < y.bytes; };
    auto found = idle_.end();
    for (auto it = idle_.begin(); it != idle_.end(); ++it) {
      if (it->bytes >= bytes && (found == idle_.end() || it->bytes < found->bytes)) found = it;
    }
    bool const fits = found != idle_.end();
    if (!fits) found = std::max_element(idle_.begin(), idle_.end(), by_size);
    if (found != idle_.end()) {
      replaced = *found;
      idle_.erase(found);
    }
    if (fits) return {this, replaced};
  }
  std::free(replaced.data);
  block const fresh = allocate(bytes);
  return fresh.data == nullptr ? lease{} : lease{this, fresh};
}

void memory_pool::give_back(block b) noexcept {
  try {
    std::lock_guard const lock(mutex_);
    idle_.push_back(b);
  } catch (std::bad_alloc const&) {
    std::free(b.data);
  }
}

std::size_t free_memory() {
  static_assert(RLIM_INFINITY == unlimited);
  rlimit address_space{unlimited, unlimited};
  (void)getrlimit(RLIMIT_AS, &address_space);
  return free_memory("/proc", "/sys", address_space.rlim_cur);
}

std::size_t free_memory(std::filesystem::path const& proc, std::filesystem::path const& sys,
                        std::size_t address_space) {
  std::size_t free = unlimited;
  if (std::size_t const kib = read_number(proc / "meminfo", "MemAvailable:", 0); kib > 0) free = kib * 1024;
  std::filesystem::path group = sys / "fs/cgroup";
  free = std::min(free, left_to(group));
  for (auto const& name : control_group(proc)) free = std::min(free, left_to(group /= name));
  if (address_space != unlimited) {
    std::size_t const mapped = read_number(proc / "self/statm", "", 0) * static_cast<std::size_t>(getpagesize());
    free = std::min(free, address_space - std::min(address_space, mapped));
  }
  return free;
}

}  // namespace heptad
