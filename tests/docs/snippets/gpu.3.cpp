// SPDX-License-Identifier: BSD-3-Clause
#include <cstdio>
#include <heptad/hybrid.hpp>

void multiply(heptad::matrix_view<double const> A, heptad::matrix_view<double const> B, heptad::matrix_view<double> C) {
@snippet@
}
