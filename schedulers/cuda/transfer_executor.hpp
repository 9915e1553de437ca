// SPDX-License-Identifier: BSD-3-Clause
// Runs a transfer schedule on three streams, loads, products and stores, which wait for each other by events. The
// calling thread queues everything and copies what is pageable.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "schedulers/cuda/pinned_ring.hpp"
#include "schedulers/cuda/stream_executor.hpp"
#include "tasks/transfer_plan.hpp"

namespace heptad::cuda {

/// A matrix in host memory with a contiguous dimension. `pinned`: the device may copy it itself.
template <typename T>
struct host_matrix {
  T* data = nullptr;
  std::int64_t ld = 1;
  orientation order = orientation::column_major;
  bool pinned = false;
};

template <typename T>
struct host_operands {
  T alpha{};
  host_matrix<T const> A, B;
  T beta{};
  host_matrix<T> C;  // column-major
};

/// When each engine was busy, in seconds from the first step.
struct transfer_times {
  std::vector<interval> loads, products, stores;
};

/// Through which pageable operands travel; both null where all are pinned.
struct transfer_rings {
  pinned_ring *in = nullptr, *out = nullptr;
};

class transfer_executor {
public:
  /// Takes the streams and the device memory. Throws error{out_of_memory} when there is not enough.
  explicit transfer_executor(transfer_plan how);
  ~transfer_executor();
  transfer_executor(transfer_executor const&) = delete;
  transfer_executor& operator=(transfer_executor const&) = delete;

  /// Blocks until C is complete. The handle is set to a stream of the executor's meanwhile.
  /// Throws error{internal_error}: C may be partly updated, unless `touched` is false when the executor has gone; it is
  /// set before the first element of C changes.
  template <typename T>
  transfer_times run(cublasHandle_t handle, transfer_rings const& rings, host_operands<T> const& x,
                     std::atomic<bool>& touched);

  [[nodiscard]] transfer_plan const& how() const noexcept { return how_; }
  [[nodiscard]] std::size_t device_bytes() const noexcept;

private:
  struct resources;
  template <typename T>
  class session;
  using product_key = std::tuple<std::int64_t, std::int64_t, std::int64_t, bool>;  // m, n, k, overwrites

  transfer_plan how_;
  std::map<product_key, std::unique_ptr<stream_executor>> products_;
  std::unique_ptr<resources> held_;
};

}  // namespace heptad::cuda
