// SPDX-License-Identifier: BSD-3-Clause
// Runs the sequence of a plan on a stream. Everything that does not depend on the operands is settled beforehand:
// which kernel runs a pass, which products form a batch. Queuing allocates nothing.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <span>
#include <variant>
#include <vector>

#include <heptad/cuda.hpp>

#include "codelets/cuda/combine.hpp"
#include "schedulers/cuda/fused_group.hpp"
#include "src/matrix/orientation.hpp"
#include "src/plan/fused_tiles.hpp"
#include "tasks/device_sequence.hpp"

namespace heptad::cuda {

/// A matrix in device memory with a contiguous dimension.
template <typename T>
struct device_matrix {
  T* data;
  std::int64_t ld;
  orientation order;
};

template <typename T>
struct bound_operands {
  T alpha;
  device_matrix<T const> A, B;
  T beta;
  device_matrix<T> C;
  T* workspace;
};

/// Equal products whose operands and results are evenly spaced buffers.
struct product_batch {
  product_step first;
  int count = 1;
  std::int64_t stride_a = 0, stride_b = 0, stride_c = 0;  // elements
};

class stream_executor {
public:
  explicit stream_executor(plan const& how);

  /// Sums, temporaries, and the counters of fused products.
  [[nodiscard]] std::size_t workspace_bytes() const noexcept { return counters_at_ + counter_bytes_; }

  /// Queues everything. Throws error{internal_error} when a launch fails: C may be partly updated.
  template <typename T>
  void run(cudaStream_t stream, cublasHandle_t handle, bound_operands<T> const& x) const;

  /// What a run queues.
  struct counts {
    int passes = 0, general_passes = 0, product_calls = 0, products = 0, fused_products = 0;
  };
  [[nodiscard]] counts count() const;

private:
  template <typename T>
  struct frame;
  [[nodiscard]] bool extends(product_batch& batch, product_step const& next) const;
  void settle(std::span<step> steps, fused_tile const& tile);

  arithmetic const arithmetic_;
  bool const batched_;
  device_sequence sequence_;
  std::vector<combine_program> programs_;
  std::vector<std::variant<combine_step, product_batch, fused_group>> calls_;
  accumulation const accumulation_;
  int const tile_;                                   // of a fused stage
  std::size_t counters_at_ = 0, counter_bytes_ = 0;  // in the workspace
};

}  // namespace heptad::cuda
