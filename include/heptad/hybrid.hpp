// SPDX-License-Identifier: BSD-3-Clause
// One product of matrices in host memory, shared by the CPU's cores and CUDA devices. Without libheptad_cuda, or
// without a device, the CPU does it all, and the report says why.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <heptad/heptad.hpp>

namespace heptad::hybrid {

struct options {
  /// Of every part. max_workspace, kernel, scheduler, scaling, check and refine are the CPU's: a check looks at what
  /// the CPU has computed.
  heptad::options product;
  /// CUDA numbers, each once; absent: all that can be used; empty: the CPU alone.
  std::optional<std::vector<int>> devices{};
  int logical_devices = 1;  ///< each device counts as so many, which have parts, streams and memory of their own
  std::optional<double> cpu_share{};               ///< of the elements of C, 0 … 1; absent: planned by the rates
  std::optional<std::size_t> max_device_memory{};  ///< bytes of each device; absent: nine tenths of what is free
  int copy_threads = 1;   ///< for each logical device: threads that copy operands that are not pinned
  bool take_over = true;  ///< the CPU computes what devices could not; false: that is an error
  bool learn = true;      ///< later calls of this shape are shared by how long the parts of this one took

  friend bool operator==(options const&, options const&) = default;
};

/// A block of C and who computed it.
struct part {
  int device = -1;  ///< CUDA number; −1: the CPU
  int logical = 0;  ///< which logical one of it
  std::string who;
  std::int64_t row = 0, col = 0, rows = 0, cols = 0;
  double share = 0;  ///< of the elements of C
  double predicted_seconds = 0;
  double begin_seconds = 0, seconds = 0;    ///< wall clock, from the begin of the call
  double gflops = 0;                        ///< effective: 2 rows cols k / seconds / 1e9
  std::string how;                          ///< one line: levels, blocks
  std::size_t bytes_in = 0, bytes_out = 0;  ///< sent to the device, and back
  double overlap = 0;                       ///< share of the time of transfers in which products ran too
  std::string failure;                      ///< of the device: what it said; then the CPU took over
};

/// Who would compute which block of C; what is only seen in a run is not filled in.
struct plan {
  element_type type = element_type::f64;
  problem shape;
  bool pinned = false;
  std::vector<part> parts;  ///< the CPU's first; they cover C once
  double predicted_seconds = 0;
  double alone_seconds = 0;         ///< predicted for the fastest of all by itself; 0: not compared
  std::vector<std::string> absent;  ///< why devices that could take part would not
};

struct report {
  std::vector<part> parts;  ///< the CPU's first; they cover C once
  double seconds = 0;       ///< wall clock of the whole call
  double gflops = 0;        ///< effective: 2mnk / seconds / 1e9
  double predicted_seconds = 0;
  double planning_seconds = 0;      ///< of these, before the first part
  double taken_over_seconds = 0;    ///< that the CPU spent on parts of devices that failed
  bool pinned = false;              ///< devices copied A, B and C themselves
  std::vector<std::string> absent;  ///< why devices that could have taken part did not
};

/// C := alpha A B + beta C as heptad::gemm, blocking: C is cut into blocks that by the rates of the calibrated CPU and
/// devices, and of the link, end at the same time. The workers of the context compute one of them; every logical device
/// has a thread, which ends with the call, and a part as in heptad::cuda::gemm on host matrices: blocks travel while
/// others are multiplied. Pinned operands (cudaHostAlloc, cudaHostRegister) are copied by the devices themselves. The
/// bits of C depend on who takes part.
///
/// A device that cannot be used gets no part; what one fails to compute is computed by the CPU afterwards. That needs C
/// as it was: when beta ≠ 0 and the device had begun to store, status::internal_error says which block of C is spoilt;
/// the rest of C is then complete. After status::invalid_argument C is untouched.
template <typename T>
HEPTAD_API report gemm(context& workers, T alpha, matrix_view<T const> A, matrix_view<T const> B, T beta,
                       matrix_view<T> C, options const& wishes = {});

/// The report in words, a line for each part.
HEPTAD_API std::string explain(report const& what);

/// How gemm() would share a product of operands that are pinned or not, by all that is known now; nothing is run.
template <typename T>
HEPTAD_API plan make_plan(context& workers, problem const& shape, bool pinned, options const& wishes = {});

/// The plan in words, a line for each part.
HEPTAD_API std::string explain(plan const& what);

}  // namespace heptad::hybrid
