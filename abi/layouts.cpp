// SPDX-License-Identifier: BSD-3-Clause
// What programs linked to HEPTAD_ABI know of the public structs: their sizes, and of those that a caller makes or reads
// the members, as a small one may hide in what was padding. The test package/layouts compiles this file; what it means
// when that fails: docs/VERSIONING.md. <heptad/starpu.hpp>, whose struct has the options of <heptad/heptad.hpp>, needs
// StarPU.
#include <heptad/cuda.hpp>
#include <heptad/heptad.hpp>
#include <heptad/hybrid.hpp>

static_assert(HEPTAD_ABI == 1, "the sizes below are those of another ABI number");
static_assert(sizeof(void*) == 8 && sizeof(std::string) == 32, "they are those of libstdc++ on 64 bits");

namespace heptad {

template <typename T, std::size_t Recorded, std::size_t Now = sizeof(T)>
constexpr bool has_size() {
  static_assert(Now == Recorded, "the layout of a public struct has changed");
  return true;
}

static_assert(has_size<matrix_view<double>, 40>());
static_assert(has_size<problem, 32>());
static_assert(has_size<options, 128>());
static_assert(has_size<padding, 3>());
static_assert(has_size<plan_level, 56>());
static_assert(has_size<candidate, 112>());
static_assert(has_size<plan, 312>());
static_assert(has_size<sampled_error, 32>());
static_assert(has_size<report, 472>());
static_assert(has_size<context, 8>());
static_assert(has_size<error, 24>());
static_assert(has_size<hybrid::options, 208>());
static_assert(has_size<hybrid::part, 200>());
static_assert(has_size<hybrid::plan, 112>());
static_assert(has_size<hybrid::report, 96>());
static_assert(has_size<cuda::options, 88>());
static_assert(has_size<cuda::stage, 56>());
static_assert(has_size<cuda::plan, 240>());
static_assert(has_size<cuda::workspace, 16>());
static_assert(has_size<cuda::executable, 8>());
static_assert(has_size<cuda::host_options, 120>());
static_assert(has_size<cuda::host_report, 400>());

void members(matrix_view<double> const& x) { auto const& [data, rows, cols, row_stride, col_stride] = x; }

void members(problem const& x) { auto const& [m, n, k, a_row_major, b_row_major, c_row_major, beta_zero] = x; }

void members(options const& x) {
  auto const& [max_error, guaranteed, max_workspace, max_levels, force_levels, algorithm, deterministic, scheduler,
               kernel, scaling, check, refine] = x;
}

void members(padding const& x) { auto const& [m, n, k] = x; }

void members(plan_level const& x) { auto const& [name, kind, coefficients] = x; }

void members(candidate const& x) { auto const& [description, seconds, workspace, growth, bound, verdict, how] = x; }

void members(plan const& x) {
  auto const& [type, shape, levels, product_buffer, core_m, core_n, core_k, pads, workers, slots, independent, strips,
               deterministic, kernel, seconds, classical_seconds, workspace, workspace_cap, bound, bound_of_C, growth,
               likely_bound, largest_A, largest_B, largest_product, tasks, reason, candidates] = x;
}

void members(sampled_error const& x) { auto const& [vectors, observed, limit, passed] = x; }

void members(report const& x) {
  auto const& [plan, seconds, gflops, workspace, tasks, busy_seconds, idle_fraction, fell_back, precaution_seconds,
               precaution, scaling, check] = x;
}

void members(hybrid::options const& x) {
  auto const& [product, devices, logical_devices, cpu_share, max_device_memory, copy_threads, take_over, learn] = x;
}

void members(hybrid::part const& x) {
  auto const& [device, logical, who, row, col, rows, cols, share, predicted_seconds, begin_seconds, seconds, gflops,
               how, bytes_in, bytes_out, overlap, failure] = x;
}

void members(hybrid::plan const& x) {
  auto const& [type, shape, pinned, parts, predicted_seconds, alone_seconds, absent] = x;
}

void members(hybrid::report const& x) {
  auto const& [parts, seconds, gflops, predicted_seconds, planning_seconds, taken_over_seconds, pinned, absent] = x;
}

void members(cuda::options const& x) {
  auto const& [max_error, guaranteed, max_workspace, max_levels, force_levels, algorithm, arithmetic, accumulation] = x;
}

void members(cuda::stage const& x) { auto const& [name, levels, batched, fused, coefficients] = x; }

void members(cuda::plan const& x) {
  auto const& [type, shape, arithmetic, stages, accumulation, tile, core_m, core_n, core_k, seconds, classical_seconds,
               workspace, workspace_cap, bound, growth, device, reason, candidates] = x;
}

void members(cuda::workspace const& x) { auto const& [data, bytes] = x; }

void members(cuda::host_options const& x) { auto const& [device, max_device_memory, ring_bytes, copy_threads] = x; }

void members(cuda::host_report const& x) {
  auto const& [plan, block_m, block_n, block_k, products, resident, staged, bytes_in, bytes_out, device_bytes,
               pinned_bytes, seconds, gflops, predicted_seconds, in_seconds, product_seconds, out_seconds, overlap,
               reason] = x;
}

}  // namespace heptad
