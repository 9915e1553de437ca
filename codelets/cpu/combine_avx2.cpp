// SPDX-License-Identifier: BSD-3-Clause
// Combine steps with 32-byte vectors (AVX2 and FMA).
#include "codelets/cpu/combine_steps_impl.hpp"

namespace heptad::cpu {
namespace {
bool runs_here() { return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0; }
}  // namespace

extern step_kernels<double> const combine_avx2_double;
extern step_kernels<float> const combine_avx2_float;
step_kernels<double> const combine_avx2_double = {"avx2",        runs_here,        run_any<double>,      prefetch_lines,
                                                  fence_streams, scan_any<double>, look_at_chunk<double>};
step_kernels<float> const combine_avx2_float = {"avx2",        runs_here,       run_any<float>,      prefetch_lines,
                                                fence_streams, scan_any<float>, look_at_chunk<float>};

}  // namespace heptad::cpu
