// SPDX-License-Identifier: BSD-3-Clause
// Streams beside the caller's, for pieces of work that may run at the same time, and an event for each piece. Taken
// from, and given back to, idle ones of the device: once those are there, nothing is allocated. Those that were
// captured stay in the capture until it ends, and are idle for it alone until then.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace heptad::cuda {

class side_streams {
public:
  /// For pieces 0 … `pieces` − 1, which begin after what `main` holds now. Throws error{internal_error}.
  side_streams(cudaStream_t main, std::size_t pieces);
  /// `main` waits for what is queued even where join() was not reached: the caller may free what those pieces use.
  ~side_streams();
  side_streams(side_streams const&) = delete;
  side_streams& operator=(side_streams const&) = delete;

  /// The stream for a piece, which waits for the earlier pieces `after`.
  cudaStream_t begin(std::size_t piece, std::span<std::size_t const> after);
  /// The piece is queued.
  void end(std::size_t piece);
  /// What `main` gets from now on waits for all pieces.
  void join();

  static constexpr std::size_t width = 4;  // with the caller's
  struct kit {
    kit() = default;
    ~kit();
    kit(kit const&) = delete;
    kit& operator=(kit const&) = delete;
    std::array<cudaStream_t, width - 1> streams{};
    std::vector<cudaEvent_t> events;  // of the beginning, then of each piece
  };

private:
  [[nodiscard]] cudaStream_t stream_of(std::size_t piece) const {
    return piece % width == 0 ? main_ : kit_->streams[piece % width - 1];
  }

  cudaStream_t main_;
  std::size_t pieces_;
  int device_ = 0;
  std::unique_ptr<kit> kit_;
  bool joined_ = false;
};

}  // namespace heptad::cuda
