// SPDX-License-Identifier: BSD-3-Clause
// Combine steps with 16-byte vectors, on any processor.
#include "codelets/cpu/combine_steps_impl.hpp"

namespace heptad::cpu {
namespace {
bool runs_here() { return true; }
}  // namespace

extern step_kernels<double> const combine_baseline_double;
extern step_kernels<float> const combine_baseline_float;
step_kernels<double> const combine_baseline_double = {
    "baseline", runs_here, run_any<double>, prefetch_lines, fence_streams, scan_any<double>, look_at_chunk<double>};
step_kernels<float> const combine_baseline_float = {"baseline",    runs_here,       run_any<float>,      prefetch_lines,
                                                    fence_streams, scan_any<float>, look_at_chunk<float>};

}  // namespace heptad::cpu
