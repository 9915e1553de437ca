/* SPDX-License-Identifier: BSD-3-Clause
 * The C interface of <heptad/starpu.hpp>: products of StarPU matrix handles as tasks of the caller's StarPU. */
#ifndef HEPTAD_STARPU_H
#define HEPTAD_STARPU_H

#include <starpu.h>

#include <heptad/heptad.h>

#ifdef __cplusplus
extern "C" {
#endif

/** C := alpha op(A) op(B) + beta C, op(X) = X for trans 'n' or 'N', its transpose for 't', 'T', 'c', 'C'.
 * Matrix handles with nx contiguous rows and ny columns. Submits and returns without waiting; see submit_gemm() in
 * <heptad/starpu.hpp>. sched_ctx: a scheduling context, or STARPU_NMAX_SCHED_CTXS for the current one.
 * Returns HEPTAD_SUCCESS, or an error code, of which heptad_last_error() says more. Then nothing was submitted, except
 * where StarPU refused a task (HEPTAD_INTERNAL_ERROR): the tasks before it run, and C is partly updated. */
HEPTAD_API int heptad_starpu_dgemm_submit(char transa, char transb, double alpha, starpu_data_handle_t A,
                                          starpu_data_handle_t B, double beta, starpu_data_handle_t C,
                                          unsigned sched_ctx);
HEPTAD_API int heptad_starpu_sgemm_submit(char transa, char transb, float alpha, starpu_data_handle_t A,
                                          starpu_data_handle_t B, float beta, starpu_data_handle_t C,
                                          unsigned sched_ctx);

#ifdef __cplusplus
}
#endif

#endif
