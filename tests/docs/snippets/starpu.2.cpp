// SPDX-License-Identifier: BSD-3-Clause
void update(starpu_data_handle_t L21, starpu_data_handle_t U12, starpu_data_handle_t A22) {
@snippet@
}
