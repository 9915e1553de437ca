// SPDX-License-Identifier: BSD-3-Clause
// Heptad on CUDA devices: products of matrices in device memory, asynchronous on the caller's stream. Needs no CUDA
// header; link heptad::cuda.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <heptad/heptad.hpp>

// As in cuda_runtime_api.h and cublas_api.h.
typedef struct CUstream_st* cudaStream_t;
typedef struct cublasContext* cublasHandle_t;

namespace heptad::cuda {

/// How the products of float matrices are computed. The narrow ones round their operands (10 and 7 bits of fraction)
/// and are used only when asked for; double is always exact FP64. Sums are always formed in the element type.
enum class arithmetic { exact, tf32, bf16 };

/// How fused products that feed the same block of C keep out of each other's way.
enum class accumulation {
  ordered,  ///< one launch; tiles of C are updated in the order of the products, by a counter each: deterministic
  atomic,   ///< one launch; element-wise atomic additions in any order
  streams,  ///< a launch for each product, ordered by events of several streams: deterministic, and no memory at all
};

struct options {
  double max_error = 100.0;  ///< largest expected growth of the error over the classical product; 1 means cuBLAS alone
  bool guaranteed = false;   ///< apply max_error to the proved bound instead of the expected growth
  std::optional<std::size_t> max_workspace{};  ///< bytes; absent: half of the device memory that is free
  int max_levels = -1;                         ///< at most so many levels; negative: as many as pay
  int force_levels = -1;  ///< exactly so many levels wherever the dimensions allow (for tests); negative: planned
  std::string algorithm = "auto";  ///< a name from `heptad info`, or "auto" (Winograd)
  cuda::arithmetic arithmetic = arithmetic::exact;
  std::optional<cuda::accumulation> accumulation{};  ///< of fused levels; absent: ordered where max_workspace has room
                                                     ///< for the counters, else streams

  friend bool operator==(options const&, options const&) = default;
};

/// Consecutive levels whose sums are formed in one pass over the operands, or by the products themselves.
struct stage {
  std::string name;      ///< of the algorithm
  int levels = 1;        ///< of that algorithm, composed
  bool batched = false;  ///< all products at once, each through buffers of its own; otherwise one after the other, in
                         ///< place in C where beta = 0 (Huang et al.: the time-bound and the storage-bound order)
  bool fused = false;    ///< no pass: the products' own kernel adds the blocks that it reads, and updates C itself
  std::shared_ptr<algorithm const> coefficients;  ///< of the composed levels
};

/// How one product will be computed on a device: a pure function of (type, problem, device profile, options).
struct plan {
  element_type type = element_type::f64;
  problem shape;  ///< as run: C column-major; a row-major C is computed as Cᵀ = Bᵀ Aᵀ
  cuda::arithmetic arithmetic = arithmetic::exact;
  std::vector<stage> stages;  ///< outermost first, only the last may be batched or fused; none: one call of cuBLAS
  cuda::accumulation accumulation = accumulation::ordered;  ///< of a fused stage
  int tile = -1;  ///< of a fused stage: the number of its kernel's tile; negative: as measured best
  std::int64_t core_m = 0, core_n = 0, core_k = 0;  ///< the part that the levels divide; the fringes are classical
  double seconds = 0;                               ///< predicted
  double classical_seconds = 0;                     ///< predicted for cuBLAS alone
  std::size_t workspace = 0;                        ///< bytes of device memory
  std::size_t workspace_cap = 0;                    ///< bytes
  double bound = 0;    ///< f with ‖C−Ĉ‖max ≤ f·u·‖A‖max‖B‖max; u is that of the arithmetic
  double growth = 1;   ///< expected error over that of the classical product
  std::string device;  ///< whose rates were used, and whether they were measured on it
  std::string reason;  ///< one sentence: why this plan
  std::vector<candidate> candidates;
};

/// The plan in words.
HEPTAD_API std::string explain(plan const& how);

/// The plan for the current device, without running it. Throws error when a size or an option is invalid, or when
/// there is no usable device.
template <typename T>
HEPTAD_API plan make_plan(problem const& shape, options const& wishes = {});

/// Device memory that a call may use until the stream has passed it; 256-byte aligned. The default: memory from the
/// stream-ordered pool of the device, taken and given back on the stream.
struct workspace {
  void* data = nullptr;
  std::size_t bytes = 0;
};

/// A plan made ready for the current device: which kernels run with which arguments. Immutable: any number of threads
/// and streams of that device may run it at a time, each with a workspace of its own. Running it with the caller's
/// handle and workspace allocates nothing, on the host or on the device; where its accumulation is `streams`, it makes
/// streams and events if those of earlier runs are in use by other threads or held by a capture, or there was none.
class HEPTAD_API executable {
public:
  explicit executable(plan const& how);
  ~executable();
  executable(executable&&) noexcept;
  executable& operator=(executable&&) noexcept;

  [[nodiscard]] plan const& how() const noexcept;
  [[nodiscard]] std::size_t workspace_bytes() const noexcept;

  struct impl;
  [[nodiscard]] impl const& state() const noexcept { return *impl_; }

private:
  std::unique_ptr<impl> impl_;
};

/// C := alpha A B + beta C on matrices in device memory, each with a contiguous dimension; C must overlap neither A nor
/// B. Queues the work on `stream` and returns; may be captured into a CUDA graph. beta = 0: C is never read.
/// `handle`: the caller's cuBLAS handle, whose stream, pointer mode and math mode are as before afterwards; null: one
/// of Heptad's, made where none of the device is idle. While `stream` is captured none can be made, and null is refused
/// unless one is idle: a call with null before the capture leaves one. One that is made while another stream is
/// captured may end that capture.
/// Throws error: after status::invalid_argument and status::out_of_memory nothing was queued. A failure is not left in
/// the thread's last error (cudaGetLastError).
template <typename T>
HEPTAD_API void gemm(cudaStream_t stream, cublasHandle_t handle, executable const& what, T alpha,
                     matrix_view<T const> A, matrix_view<T const> B, T beta, matrix_view<T> C, workspace memory = {});

/// The same, planned for the current device; plans of recent calls are kept, one that lacked memory until twice as much
/// is free.
template <typename T>
HEPTAD_API void gemm(cudaStream_t stream, cublasHandle_t handle, T alpha, matrix_view<T const> A,
                     matrix_view<T const> B, T beta, matrix_view<T> C, options const& wishes = {});

/// For products of matrices in host memory.
struct host_options {
  options device;  ///< of the products of blocks on the device; their workspace counts as device memory too
  std::optional<std::size_t> max_device_memory{};   ///< bytes; absent: nine tenths of what is free
  std::size_t ring_bytes = std::size_t{256} << 20;  ///< pinned host memory through which pageable operands travel
  int copy_threads = 1;  ///< threads that copy pageable operands to and from it; the caller's is one of them

  friend bool operator==(host_options const&, host_options const&) = default;
};

/// What a product of matrices in host memory did.
struct host_report {
  cuda::plan plan;  ///< of a full block on the device; no stages and m = 0 when C was only scaled
  std::int64_t block_m = 0, block_n = 0, block_k = 0;
  std::size_t products = 0;   ///< of blocks
  bool resident = false;      ///< every block of A and B was sent once; otherwise they did not all fit (out of core)
  bool staged = false;        ///< an operand was pageable: it travelled through pinned memory
  std::size_t bytes_in = 0;   ///< sent to the device
  std::size_t bytes_out = 0;  ///< and back
  std::size_t device_bytes = 0, pinned_bytes = 0;  ///< held meanwhile
  double seconds = 0;                              ///< wall clock of the whole call
  double gflops = 0;                               ///< effective: 2mnk / seconds / 1e9
  double predicted_seconds = 0;
  double in_seconds = 0, product_seconds = 0, out_seconds = 0;  ///< that each was under way, on the device's clock
  double overlap = 0;  ///< share of the time of transfers in which products ran too
  std::string reason;  ///< one sentence: why these blocks
};

/// C := alpha A B + beta C on matrices in host memory, each with a contiguous dimension; blocking. The current device
/// computes blocks of C while others travel; the operands may be larger than its memory. Pinned operands
/// (cudaHostAlloc, cudaHostRegister) are copied by the device itself. C must overlap neither A nor B; beta = 0: C is
/// never read. Throws error: after status::invalid_argument and status::out_of_memory C is as it was.
template <typename T>
HEPTAD_API host_report gemm(T alpha, matrix_view<T const> A, matrix_view<T const> B, T beta, matrix_view<T> C,
                            host_options const& wishes = {});

/// The report in words.
HEPTAD_API std::string explain(host_report const& what);

/// The pinned memory of the last products of host matrices is kept for the next on their devices; this gives it back.
HEPTAD_API void release_pinned_memory();

/// Measures the current device and its link to the host for the planner, some seconds, and keeps the result in
/// cuda-devices.json beside the machine profile, or in `path`. It holds for this version of Heptad and of cuBLAS;
/// calls plan with it from now on. `progress`: share of the work that is done, and what comes next. Returns the path.
/// Throws error when there is no usable device, too little memory, or the file cannot be written.
HEPTAD_API std::string calibrate(std::string const& path = {},
                                 std::function<void(double, std::string const&)> const& progress = {});

}  // namespace heptad::cuda
