// SPDX-License-Identifier: BSD-3-Clause
// Heptad on the caller's StarPU: products of matrix handles, submitted like any other task and never waited for.
// Link heptad::starpu.
#pragma once

#include <starpu.h>

#include <heptad/heptad.hpp>

namespace heptad::starpu {

struct submit_options {
  bool transpose_a = false, transpose_b = false;  ///< op(X) = Xᵀ
  options wishes{};                               ///< of the plan; the scheduler is StarPU's
  unsigned sched_ctx = STARPU_NMAX_SCHED_CTXS;    ///< scheduling context; that value: the calling thread's
  int priority = STARPU_DEFAULT_PRIO;             ///< of the most urgent task; the others have less, the least the last
};

/// C := alpha op(A) op(B) + beta C, submitted as tasks on StarPU; returns the plan without waiting for any of them.
/// A, B, C are matrix handles (nx rows, contiguous, ny columns, any ld): op(A) m×k, op(B) k×n, C m×n, elements of T.
/// Ordered with the caller's own tasks on the three handles by StarPU's sequential consistency: what was submitted
/// before comes before, what comes later waits. A and B are read as they are, by any number of products at once; C is
/// partitioned for the time of the product and is whole again for what is submitted later. The caller may have
/// partition plans of its own on the handles, and must not have one of C submitted (active) through the explicit calls.
/// The values of A and B do not exist yet and are not looked at, unlike in gemm(): NaN, Inf and what overflows in sums
/// of blocks spread over blocks of C, unless wishes.max_levels = 0 keeps the plan classical.
/// Where there are CUDA workers, and libheptad_cuda is found, they take tasks: of a product with 2048 or more in each
/// dimension all of them, unless it is deterministic or its levels are set in `wishes`.
/// beta = 0: C is only written. alpha = 0: A and B are not read. A and B may be one handle; C must be another one.
/// Plan, profile and defaults are those of default_context(). Throws error before anything is submitted: StarPU is not
/// initialised or has no CPU worker (in the context), a handle is null, is no matrix, has another element size or the
/// wrong shape, C is A or B or is not at home in main memory, out_of_memory (also when the products in flight leave no
/// room for packing under StarPU's limit of main memory). One error comes later: internal_error when StarPU refuses a
/// task; the tasks before it run, C is partly updated, and the handles can be used as before. Callable from several
/// threads on different handles.
template <typename T>
HEPTAD_API plan submit_gemm(T alpha, starpu_data_handle_t A, starpu_data_handle_t B, T beta, starpu_data_handle_t C,
                            submit_options const& how = {});

/// Ends the StarPU that a blocking product with scheduler = starpu has started, if one has. Between such calls its
/// workers sleep (starpu_pause): a program that starts StarPU itself after them calls this first.
HEPTAD_API void shutdown();

}  // namespace heptad::starpu
