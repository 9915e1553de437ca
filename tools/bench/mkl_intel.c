/* SPDX-License-Identifier: BSD-3-Clause
 * Preloaded into MKL's worker on processors of other vendors: MKL asks this function whether to use its fast kernels,
 * and the comparison is with the fast ones. */
#include <heptad/export.h>

HEPTAD_API int mkl_serv_intel_cpu_true(void) { return 1; }
