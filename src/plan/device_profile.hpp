// SPDX-License-Identifier: BSD-3-Clause
// What the planner knows of a CUDA device: the curves of its cuBLAS and the cost of a pass over its memory.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <heptad/cuda.hpp>

namespace heptad::cuda {

/// TFLOP/s of cuBLAS in one arithmetic.
struct product_rates {
  /// Cubes of this size: one call, and many in one strided-batched call. Ascending sizes.
  struct cube {
    int size;
    double single, batched;
  };
  /// m = n large against k. Ascending k.
  struct thin {
    int k;
    double tflops;
  };
  /// Products of one fused level of Strassen, cubes of this size, in order, by the best of fused_tiles. Ascending
  /// sizes; none where there is no such kernel.
  struct fused_cube {
    int size;
    double tflops;
    unsigned tile = 0;
  };
  std::vector<cube> cubes;
  std::vector<thin> thins;
  std::vector<fused_cube> fused;
  /// Share of these rates that is left to operands whose columns do not start at multiples of 16 bytes.
  double unaligned = 1;
};

struct device_profile {
  std::string name;              // as the driver says
  std::string version;           // of Heptad and of this table's layout, when it was measured
  int cublas = 130100;           // version, as cublasGetVersion says
  std::size_t memory_bytes = 0;  // of the device
  int multiprocessors = 132;
  double pass_gbytes = 4150;     // combine of one level over gigabytes, bytes read + written
  double pass_seconds = 4.5e-6;  // besides: launch, ramp and tail of one pass
  double call_seconds = 3e-6;    // of one cuBLAS call, when calls follow each other on a stream
  double load_gbytes = 55;       // pinned host memory to the device, long lines
  double store_gbytes = 55;      // and back
  double line_seconds =
      140e-9;  // of each line of a block that travels beside products, and three quarters of its bytes' time
  double staged_gbytes = 6;  // one thread that copies between pageable and pinned host memory
  product_rates f64, f32, tf32, bf16;
  bool measured = true;  // on the device of that name; otherwise scaled from one that was
  std::string remark;    // why these rates and not others; "" when there is nothing to say

  [[nodiscard]] product_rates const& rates(element_type type, arithmetic how) const noexcept {
    if (type == element_type::f64) return f64;
    return how == arithmetic::tf32 ? tf32 : how == arithmetic::bf16 ? bf16 : f32;
  }
};

/// An NVIDIA H200 with cuBLAS 13.1 (bench/results/gpu): the table for devices that were not measured.
device_profile default_device_profile();

}  // namespace heptad::cuda
