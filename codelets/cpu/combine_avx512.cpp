// SPDX-License-Identifier: BSD-3-Clause
// Combine steps with 64-byte vectors (AVX-512F).
#include "codelets/cpu/combine_steps_impl.hpp"

namespace heptad::cpu {
namespace {
bool runs_here() { return __builtin_cpu_supports("avx512f") != 0; }
}  // namespace

extern step_kernels<double> const combine_avx512_double;
extern step_kernels<float> const combine_avx512_float;
step_kernels<double> const combine_avx512_double = {
    "avx512", runs_here, run_any<double>, prefetch_lines, fence_streams, scan_any<double>, look_at_chunk<double>};
step_kernels<float> const combine_avx512_float = {"avx512",      runs_here,       run_any<float>,      prefetch_lines,
                                                  fence_streams, scan_any<float>, look_at_chunk<float>};

}  // namespace heptad::cpu
