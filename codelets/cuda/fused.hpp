// SPDX-License-Identifier: BSD-3-Clause
// product on a device with its sums fused: every product of a level reads the blocks of A and B themselves, adds them
// on their way into shared memory, and adds what it computed to one or more blocks of C from registers. No sum is ever
// in device memory (Huang, Yu and van de Geijn 2018, figure 5).
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <span>
#include <vector>

#include <heptad/cuda.hpp>

#include "src/matrix/limits.hpp"
#include "src/matrix/orientation.hpp"
#include "src/plan/fused_tiles.hpp"
#include "src/plan/fused_tuning.hpp"

namespace heptad::cuda {

/// One block of a sum. The first of a sum has the factor 1.
template <typename T>
struct fused_source {
  T const* data;
  T factor;
};

/// C_p := factor · product + beta · C_p; beta = 0 never reads.
template <typename T>
struct fused_target {
  T* data;
  T factor, beta;
  unsigned block;  // the number of this block of C, for its counters
  unsigned turn;   // products before this one on this block
};

inline constexpr int most_fused_products = 49;  // of one launch

template <typename T>
struct fused_product {
  fused_source<T> a[most_fused_terms], b[most_fused_terms];
  fused_target<T> c[most_fused_terms];
  int sources_a, sources_b, targets;
};

/// The blocks of an operand: all have its layout.
struct fused_layout {
  std::int64_t ld;
  orientation order;
};

template <typename T>
struct fused_call {
  std::span<fused_product<T> const> products;  // at most most_fused_products
  std::int64_t m, n, k;                        // of one product
  fused_layout a, b;
  std::int64_t ldc;  // C is column-major
  int tile = 0;      // of fused_tiles
  accumulation how =
      accumulation::ordered;  // streams: the caller orders launches; no two products of one share a block
  /// With accumulation::ordered: fused_counters() of them, all 0 before the first launch that uses them.
  unsigned* counters = nullptr;
  unsigned first_ticket = 0;  // work items that earlier launches with these counters had
};

/// Queues one launch. A tile that the device cannot run is refused.
template <typename T>
cudaError_t launch_fused(cudaStream_t stream, fused_call<T> const& call);

/// What the kernels of fused_tiles take on the current device, in that order; of a kernel that cannot be loaded nothing
/// is known, and it has no threads.
template <typename T>
std::vector<tile_needs> fused_needs();

}  // namespace heptad::cuda
