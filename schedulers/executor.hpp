// SPDX-License-Identifier: BSD-3-Clause
// Binds a graph to real operands and runs the body of one task on one worker: the part that all schedulers share.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include <heptad/heptad.hpp>

#include "codelets/cpu/kernel_set.hpp"
#include "tasks/graph.hpp"

namespace heptad {

/// Where a block lies for one run of one task. Strides in elements.
struct location {
  void* data = nullptr;
  std::int64_t rs = 1, cs = 0;
};

/// Places of one task at most.
inline constexpr std::size_t most_places = 256;

/// Type-erased: a scheduler does not know the element type.
class executor {
public:
  virtual ~executor() = default;
  /// Bytes of scratch that run() needs on its worker.
  [[nodiscard]] virtual std::size_t scratch_bytes() const noexcept = 0;
  /// Runs task t. Thread-safe for different scratch areas. Never throws.
  virtual void run(task const& t, std::byte* scratch) const noexcept = 0;
  /// The same where data moves between runs: space number i of the task's blocks begins at spaces[i], at most
  /// most_places of them.
  virtual void run_at(task const& t, std::span<location const> spaces, std::byte* scratch) const noexcept = 0;
};

template <typename T>
struct gemm_operands {
  T alpha{};
  matrix_view<T const> A, B;
  T beta{};
  matrix_view<T> C;
};

/// `workspace` holds g.workspace_elements of T, 64-byte aligned. The graph must outlive the executor. With null
/// operands and workspace the executor can say its scratch_bytes(), but run nothing. Throws error{invalid_argument}
/// when the plan's kernel set is unknown or not of this processor.
template <typename T>
std::unique_ptr<executor> make_executor(graph const& g, plan const& how, gemm_operands<T> const& operands,
                                        T* workspace);

/// What run() makes of a graph: all; what is left after its opening passes (see open); or all, while products that pack
/// A or B look at what they read.
enum class run_kind { whole, opened, looking };

/// Gives one of make_executor<T> other operands and another workspace, of the same graph. Allocates nothing. `looking`
/// is for graphs without passes: their products read A and B themselves.
template <typename T>
void rebind(executor& work, gemm_operands<T> const& operands, T* workspace, run_kind kind = run_kind::whole) noexcept;

/// The largest |x| of A and of B, or up to (1 + 2^-20) of it; infinity where one is not finite.
template <typename T>
struct largest_elements {
  T of_A = 0, of_B = 0;
};

/// Of all that products have looked at since rebind(); of one of make_executor<T>.
template <typename T>
largest_elements<T> looked_at(executor const& work) noexcept;

/// The largest |x| of every row and column of an operand.
template <typename T>
struct line_maxima {
  T *rows = nullptr, *cols = nullptr;
};

/// Runs the opening passes of a task and nothing else, and raises the maxima to those of the blocks of A and B that
/// they read; null ones: does not look. `work` is of make_executor<T>; the scratch must be that of the task when the
/// rest of it runs.
template <typename T>
void open(executor const& work, task const& t, line_maxima<T> const& of_A, line_maxima<T> const& of_B,
          std::byte* scratch) noexcept;

}  // namespace heptad
