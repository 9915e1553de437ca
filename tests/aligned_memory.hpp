// SPDX-License-Identifier: BSD-3-Clause
// 64-byte aligned memory in which every float and double is NaN: nothing may be read before it is written.
#pragma once

#include <cstddef>
#include <cstring>
#include <new>

namespace heptad::test {

struct aligned_memory {
  explicit aligned_memory(std::size_t bytes) : data(static_cast<std::byte*>(::operator new(bytes, alignment))) {
    std::memset(data, 0xff, bytes);
  }
  ~aligned_memory() { ::operator delete(data, alignment); }
  aligned_memory(aligned_memory const&) = delete;
  aligned_memory& operator=(aligned_memory const&) = delete;
  static constexpr std::align_val_t alignment{64};
  std::byte* data;
};

}  // namespace heptad::test
