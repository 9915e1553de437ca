/* SPDX-License-Identifier: BSD-3-Clause
 * The C interface: column-major general matrix multiplication with the arguments of the BLAS, 64-bit sizes. */
#ifndef HEPTAD_HEPTAD_H
#define HEPTAD_HEPTAD_H

#include <stdint.h>

#include <heptad/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Status values; heptad_status_string() names them. */
#define HEPTAD_SUCCESS 0
#define HEPTAD_INVALID_ARGUMENT 1
#define HEPTAD_OUT_OF_MEMORY 2
#define HEPTAD_CANCELLED 3
#define HEPTAD_INTERNAL_ERROR 4

/** C := alpha op(A) op(B) + beta C, op(X) = X for trans 'n' or 'N', its transpose for 't', 'T', 'c', 'C'.
 * op(A) is m×k, op(B) k×n, C m×n, column-major; lda, ldb, ldc ≥ max(1, rows as stored).
 * C must overlap neither A nor B. beta = 0: C is not read. alpha = 0 or k = 0: A and B are not read.
 * Blocking and thread-safe. Returns HEPTAD_SUCCESS, or an error code: then heptad_last_error() says which argument was
 * wrong, or what else, and C is untouched. But HEPTAD_CANCELLED (the oneTBB task group that the call was made in was
 * cancelled) and HEPTAD_INTERNAL_ERROR may leave C partly updated: heptad_last_error() says whether. In the child of a
 * fork whose parent had made a context, as the first of these calls does, the calling thread does all the work; where
 * it had made none, the child has workers as any other process. */
HEPTAD_API int heptad_dgemm(char transa, char transb, int64_t m, int64_t n, int64_t k, double alpha, const double* a,
                            int64_t lda, const double* b, int64_t ldb, double beta, double* c, int64_t ldc);
HEPTAD_API int heptad_sgemm(char transa, char transb, int64_t m, int64_t n, int64_t k, float alpha, const float* a,
                            int64_t lda, const float* b, int64_t ldb, float beta, float* c, int64_t ldc);

/** Workers of the process's default context: n ≥ 1, or 0 for all that the process may use. Calls in progress end with
 * the workers that they have. Returns HEPTAD_SUCCESS, HEPTAD_INVALID_ARGUMENT or HEPTAD_OUT_OF_MEMORY.
 * heptad_get_num_threads() returns 0 when the environment has a bad value or there is no memory (heptad_last_error()
 * says which). */
HEPTAD_API int heptad_set_num_threads(int n);
HEPTAD_API int heptad_get_num_threads(void);

/** The workspace of calls that have ended is kept for the next ones; this frees that of the default context, which it
 * does not make. Calls in progress keep theirs. Returns HEPTAD_SUCCESS. */
HEPTAD_API int heptad_release_workspace(void);

HEPTAD_API const char* heptad_status_string(int status);
/** The last failure of the calling thread: the argument, its value and the rule; "" when there was none. */
HEPTAD_API const char* heptad_last_error(void);
HEPTAD_API const char* heptad_version(void);

#ifdef __cplusplus
}
#endif

#endif
