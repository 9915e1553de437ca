// SPDX-License-Identifier: BSD-3-Clause
// The kernel sets that are compiled in. Each is defined in the .cpp that bears its name; only the registry lists them.
#pragma once

#include "codelets/cpu/kernel_set.hpp"

namespace heptad::cpu {

#if defined(__x86_64__)
extern kernel_set<double> const avx512_kernels_f64;
extern kernel_set<float> const avx512_kernels_f32;
extern kernel_set<double> const avx2_kernels_f64;
extern kernel_set<float> const avx2_kernels_f32;
#endif
#if defined(HEPTAD_WITH_BLIS)
extern kernel_set<double> const blis_kernels_f64;
extern kernel_set<float> const blis_kernels_f32;
#endif
extern kernel_set<double> const portable_kernels_f64;
extern kernel_set<float> const portable_kernels_f32;

}  // namespace heptad::cpu
