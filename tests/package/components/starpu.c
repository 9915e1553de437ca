/* SPDX-License-Identifier: BSD-3-Clause
 * One product on StarPU. */
#include <stdio.h>
#include <stdlib.h>

#include <heptad/starpu.h>

int main(void) {
  const uint32_t n = 300;
  if (starpu_init(NULL) != 0) return 1;
  double* matrices[3];
  starpu_data_handle_t handles[3];
  for (int i = 0; i < 3; ++i) {
    matrices[i] = malloc(sizeof(double) * n * n);
    for (uint32_t j = 0; j < n * n; ++j) matrices[i][j] = i;
    starpu_matrix_data_register(&handles[i], STARPU_MAIN_RAM, (uintptr_t)matrices[i], n, n, n, sizeof(double));
  }
  /* Of ones, less C, which is 2 everywhere. */
  int status =
      heptad_starpu_dgemm_submit('n', 't', 1.0, handles[1], handles[1], -1.0, handles[2], STARPU_NMAX_SCHED_CTXS);
  if (status != HEPTAD_SUCCESS) fprintf(stderr, "%s\n", heptad_last_error());
  for (int i = 0; i < 3; ++i) starpu_data_unregister(handles[i]);
  starpu_shutdown();
  printf("C(0,0) = %g, expected %u\n", matrices[2][0], n - 2);
  int right = status == HEPTAD_SUCCESS && matrices[2][0] == n - 2 && matrices[2][n * n - 1] == n - 2;
  for (int i = 0; i < 3; ++i) free(matrices[i]);
  return right ? 0 : 1;
}
