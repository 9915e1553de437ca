// SPDX-License-Identifier: BSD-3-Clause
// Buffers of pinned host memory, through which pageable matrices travel: the device copies from and to a buffer while
// the host fills or empties the next one.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <vector>

namespace heptad::cuda {

/// `lines` runs of `bytes` contiguous bytes, `pitch` bytes apart.
struct byte_lines {
  char* data = nullptr;
  std::size_t pitch = 0, bytes = 0, lines = 0;
};

/// By so many threads, of which the caller's is one; by fewer where they cannot be had.
void copy_lines(byte_lines const& to, byte_lines const& from, int threads);

class pinned_ring {
public:
  /// For streams of the current device. Throws error{out_of_memory} when the system does not give that much pinned
  /// memory.
  pinned_ring(std::size_t bytes, int copy_threads);
  ~pinned_ring();
  pinned_ring(pinned_ring const&) = delete;
  pinned_ring& operator=(pinned_ring const&) = delete;

  /// Both queue the copy on `stream`, piece by piece; the caller may wait for a buffer meanwhile.
  void to_device(cudaStream_t stream, byte_lines const& device, byte_lines const& host);
  /// What is on its way reaches `host` when its buffer is wanted again, at the latest in finish().
  void to_host(cudaStream_t stream, byte_lines const& host, byte_lines const& device);
  void finish();

  [[nodiscard]] std::size_t bytes() const noexcept { return buffers * buffer_bytes_; }

private:
  static constexpr std::size_t buffers = 4;
  struct buffer {
    char* data = nullptr;
    cudaEvent_t passed = nullptr;  // the device has copied from it or to it
    bool busy = false;
    byte_lines waiting{};  // where its contents go, when they come from the device
  };
  /// The next buffer, empty.
  buffer& take();
  void settle(buffer& b);
  template <typename Visit>
  void for_each_piece(byte_lines const& x, Visit const& visit) const;

  std::size_t buffer_bytes_;
  int copy_threads_;
  std::vector<buffer> buffers_;
  std::size_t next_ = 0;
};

}  // namespace heptad::cuda
