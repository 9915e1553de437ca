// SPDX-License-Identifier: BSD-3-Clause
// The C++ interface: fast matrix multiplication C := alpha A B + beta C, planned, reported, and run on the
// caller's cores. Everything here is plain data but the context, which owns the workers and their memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <heptad/export.h>

namespace heptad {

/// Why a call failed. The C interface returns these values.
enum class status : int {
  success = 0,
  invalid_argument = 1,  ///< an argument broke its rule; C is untouched
  out_of_memory = 2,     ///< not even the classical algorithm found memory; C is untouched
  cancelled = 3,         ///< the caller's task group was cancelled; C may be partly updated: the message says whether
  internal_error = 4,    ///< a defect of Heptad; the message says whether C was touched
};

/// Every failure of the C++ interface. what() names the argument, its value and the rule that it broke.
class HEPTAD_API error : public std::runtime_error {
public:
  error(status code, std::string const& message) : std::runtime_error(message), code_(code) {}
  [[nodiscard]] status code() const noexcept { return code_; }

private:
  status code_;
};

/// Element (i, j) is data[i * row_stride + j * col_stride]; rows × cols elements. Strides are in elements and may
/// describe either order, a transpose or a submatrix; they must not make two elements share an address.
template <typename T>
struct matrix_view {
  T* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t row_stride = 1;
  std::int64_t col_stride = 0;

  constexpr operator matrix_view<T const>() const noexcept { return {data, rows, cols, row_stride, col_stride}; }
  [[nodiscard]] constexpr matrix_view transposed() const noexcept { return {data, cols, rows, col_stride, row_stride}; }
  [[nodiscard]] constexpr matrix_view block(std::int64_t row, std::int64_t col, std::int64_t r,
                                            std::int64_t c) const noexcept {
    return {data + row * row_stride + col * col_stride, r, c, row_stride, col_stride};
  }
};

/// A column-major matrix with leading dimension ld ≥ max(1, rows).
template <typename T>
constexpr matrix_view<T> column_major(T* data, std::int64_t rows, std::int64_t cols, std::int64_t ld) noexcept {
  return {data, rows, cols, 1, ld};
}
/// A row-major matrix with leading dimension ld ≥ max(1, cols).
template <typename T>
constexpr matrix_view<T> row_major(T* data, std::int64_t rows, std::int64_t cols, std::int64_t ld) noexcept {
  return {data, rows, cols, ld, 1};
}

enum class element_type { f32, f64 };
/// starpu needs libheptad_starpu.so beside libheptad.so; the call may then not come from inside a StarPU task.
enum class scheduler_kind { tbb, sequential, starpu };

/// Scaling of A and B by powers of two, which is exact, before a fast algorithm multiplies them (Ballard et al. 2016,
/// §5): outside gives the rows of A and the columns of B one size, so that small rows and columns of C keep their
/// digits; inside balances the columns of A with the rows of B. Takes copies of A and B (and of C, outside with
/// beta ≠ 0), where they fit under the cap on workspace.
enum class scaling_kind {
  none,
  outside,
  inside,
  both,      ///< outside, then inside
  automatic  ///< what of these is worth it: where sizes spread, or inside would help, by a factor above 1000
};

/// What one level of recursion is: its sums and products as tasks, as serial passes inside a task, or fused into
/// the packing and the epilogue of the products (Huang 2018, §3.2 and §4.2).
enum class level_kind { task, explicit_passes, fused };

/// What the caller allows. The defaults are what most callers want.
struct options {
  double max_error = 100.0;  ///< largest expected growth of the error over the classical product; 1 means classical
  bool guaranteed = false;   ///< apply max_error to the proved bound instead of the expected growth
  /// Bytes of sums, temporaries and packing; absent: twice the size of A, B and C, at most half of the free memory.
  /// What needs nothing but packing is always allowed, that is the classical product and fused levels straight into C:
  /// with 0, or a cap below their packing, one of these runs, and plan::workspace is larger than the cap.
  std::optional<std::size_t> max_workspace{};
  int max_levels = -1;    ///< at most so many levels; negative: as many as pay
  int force_levels = -1;  ///< exactly so many levels wherever the dimensions and max_workspace allow (for tests);
                          ///< negative: planned
  std::string algorithm = "auto";  ///< "auto", a name from `heptad info`, a shape as "3x2x4", or the path of a file
  bool deterministic = false;      ///< bitwise the same result whatever the number of workers and the scheduler
  scheduler_kind scheduler = scheduler_kind::tbb;
  std::string kernel = "auto";  ///< micro-kernel set from `heptad info`, or "auto"
  scaling_kind scaling = scaling_kind::automatic;
  int check = 0;  ///< random vectors with which the result is checked; 0: none. Each costs a few passes over A, B, C
  /// The first calls with the same sizes and options take turns between the two plans that the model holds best; then
  /// the faster one is used, and kept beside the machine profile for the next process. No call does extra work.
  /// Deterministic products do not: their plan must not follow from a clock.
  bool refine = false;

  friend bool operator==(options const&, options const&) = default;
};

/// The shape of one product. Layouts are those of the views: true when the rows are contiguous (C order).
struct problem {
  std::int64_t m = 0, n = 0, k = 0;
  bool a_row_major = false, b_row_major = false, c_row_major = false;
  bool beta_zero = false;  ///< C is only written: products may be formed in place

  friend bool operator==(problem const&, problem const&) = default;
};

/// Sides of a product that are filled up with zeros to what the levels divide, instead of leaving a fringe. The zeros
/// are nowhere stored: the last blocks of A, B and C just end before the others do.
struct padding {
  bool m = false, n = false, k = false;

  friend bool operator==(padding const&, padding const&) = default;
};

struct algorithm;  // ⟨m̃,k̃,ñ;R⟩, internal

/// One level of a plan, outermost first.
struct plan_level {
  std::string name;  ///< of the algorithm
  level_kind kind = level_kind::fused;
  std::shared_ptr<algorithm const> coefficients;
};

struct plan;

/// A plan that was considered, and why it was not taken.
struct candidate {
  std::string description;
  double seconds = 0;         ///< predicted
  std::size_t workspace = 0;  ///< bytes; of a plan from make_plan exact, otherwise with at most so much packing
  double growth = 1;          ///< expected error growth
  double bound = 0;           ///< the proved one, as in plan
  std::string verdict;
  std::shared_ptr<plan const> how;  ///< it can be run
};

/// How one product will be computed: a pure function of (type, problem, workers, machine profile, options).
struct plan {
  element_type type = element_type::f64;
  problem shape;                   ///< as run: C column-major; a row-major C is computed as Cᵀ = Bᵀ Aᵀ
  std::vector<plan_level> levels;  ///< outermost first; none: classical
  bool product_buffer = true;  ///< AB: each product gathered in a buffer, C touched once; false: ABC, straight into C
  std::int64_t core_m = 0, core_n = 0, core_k = 0;  ///< the part that the levels divide; the fringes are classical
  padding pads;                                     ///< sides of the core that may reach beyond those of the product
  int workers = 1;
  int slots = 1;             ///< products of one node of a task level that may hold workspace at once
  bool independent = false;  ///< order: all products through temporaries (true), or in place in C where beta = 0
  std::int64_t strips = 1;   ///< pieces of every product below the task levels, or of the whole without any
  bool deterministic = false;
  std::string kernel;             ///< micro-kernel set
  double seconds = 0;             ///< predicted
  double classical_seconds = 0;   ///< predicted for the classical plan
  std::size_t workspace = 0;      ///< bytes of shared workspace and of every worker's scratch
  std::size_t workspace_cap = 0;  ///< bytes
  /// Proved: ‖C−Ĉ‖max ≤ u (bound |α| ‖A‖max ‖B‖max + bound_of_C |β| ‖C‖max), u the unit roundoff (Ballard et al. 2016).
  double bound = 0, bound_of_C = 0;
  double growth = 1;  ///< expected error over that of the classical product
  /// In place of bound, of independent entries of mean zero, but for one product in a million: a model, not a proof.
  double likely_bound = 0;
  /// How much larger than ‖A‖max and ‖B‖max sums of their blocks may become, and than ‖A‖max ‖B‖max what is formed from
  /// the products: operands for which that could overflow are multiplied classically.
  double largest_A = 1, largest_B = 1, largest_product = 1;
  std::size_t tasks = 0;
  std::string reason;  ///< one sentence: why this plan
  std::vector<candidate> candidates;
};

/// What the check of a result by random vectors x of ±1 found (Freivalds 1977): r = Ĉ x − (α A (B x) + β C x).
struct sampled_error {
  int vectors = 0;
  double observed = 0;  ///< max |r| / √n: about the largest root mean square of the errors in one row of C
  double limit = 0;     ///< what the proved bound allows it to be, but with probability 1e-13
  bool passed = true;   ///< observed ≤ limit; rows whose exact result is not finite are not judged
};

/// What one call did.
struct report {
  heptad::plan plan;
  double seconds = 0;         ///< wall clock of the whole call
  double gflops = 0;          ///< effective: 2mnk / seconds / 1e9
  std::size_t workspace = 0;  ///< bytes really held
  std::size_t tasks = 0;
  std::vector<double> busy_seconds;  ///< per worker, in tasks
  double idle_fraction = 0;          ///< 1 − Σ busy / (workers × seconds)
  bool fell_back = false;            ///< workspace could not be allocated; a smaller plan was run
  double precaution_seconds = 0;  ///< of these, until A and B were looked at: with the plan's first passes over them,
                                  ///< which look meanwhile; and for scaling them. Where fused levels look on the way,
                                  ///< until they began, and for another look after them; or until C had to be made
                                  ///< again
  std::string precaution;         ///< what in A and B forbade the levels planned, so that none was run; or empty
  scaling_kind scaling = scaling_kind::none;  ///< that was applied
  std::optional<sampled_error> check;         ///< when options.check asked for one
};

/// The workers and their memory; the only state of the library. Safe to share between threads.
/// context(n) uses an arena of n workers of its own (0: as many as the process may use).
/// With one worker small and thin products run on the calling thread, and those of several callers side by side.
/// To run in the caller's tbb::task_arena, see <heptad/tbb.hpp>.
class HEPTAD_API context {
public:
  explicit context(int threads = 0);
  ~context();
  context(context&&) noexcept;
  context& operator=(context&&) noexcept;
  [[nodiscard]] int threads() const noexcept;

  /// The workspace of calls that have ended is kept for the next ones; this frees it. Calls in progress keep theirs.
  void release_workspace() noexcept;

  struct impl;
  explicit context(std::unique_ptr<impl> state) noexcept;
  [[nodiscard]] impl& state() noexcept { return *impl_; }

private:
  std::unique_ptr<impl> impl_;
};

/// The plan for a product, without running it. Throws error when a size or an option is invalid.
template <typename T>
HEPTAD_API plan make_plan(context& workers, problem const& shape, options const& wishes = {});

/// C := alpha A B + beta C, with A m×k, B k×n, C m×n. Blocking. C must overlap neither A nor B.
/// beta = 0: C is never read. alpha = 0 or k = 0: A and B are never read.
/// Throws error; after status::invalid_argument and status::out_of_memory C is untouched.
/// Callable from several threads on one context, and from inside a TBB task. In the child of a fork whose parent had
/// made a context the calling thread does all the work, on default_context(), on a new context, or on one on which no
/// other thread was in a call at the fork; where it had made none, the child has workers as any other process.
template <typename T>
HEPTAD_API report gemm(context& workers, T alpha, matrix_view<T const> A, matrix_view<T const> B, T beta,
                       matrix_view<T> C, options const& wishes = {});

/// The same with a plan from make_plan; its shape must be that of A, B and C.
template <typename T>
HEPTAD_API report gemm(context& workers, plan const& how, T alpha, matrix_view<T const> A, matrix_view<T const> B,
                       T beta, matrix_view<T> C);

/// The same, told in a report whose memory is used again: from the second call with one plan, one report and one
/// context on, nothing is allocated (but by oneTBB, for its tasks, or where operands must be scaled). Until the call
/// has ended well the report says nothing.
template <typename T>
HEPTAD_API void gemm(context& workers, plan const& how, T alpha, matrix_view<T const> A, matrix_view<T const> B, T beta,
                     matrix_view<T> C, report& told);

/// The plan in words: levels, tasks, workspace, bound, predicted time, and what was declined and why.
HEPTAD_API std::string explain(plan const& how);

/// The context that the C interface uses. In calls on it, every option that is left at its default takes its value
/// from the environment (HEPTAD_MAX_ERROR, HEPTAD_MAX_LEVELS, …); an option that is set wins over the environment.
/// Throws error when a variable has a bad value.
HEPTAD_API context& default_context();

HEPTAD_API char const* version() noexcept;

}  // namespace heptad
