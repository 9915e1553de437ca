// SPDX-License-Identifier: BSD-3-Clause
// What programs linked to HEPTAD_ABI know of the public structs: their sizes, and of those that are passed as they are
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

void members(options const& x) {
  auto const& [max_error, guaranteed, max_workspace, max_levels, force_levels, algorithm, deterministic, scheduler,
               kernel, scaling, check, refine] = x;
}

void members(plan const& x) {
  auto const& [type, shape, levels, product_buffer, core_m, core_n, core_k, pads, workers, slots, independent, strips,
               deterministic, kernel, seconds, classical_seconds, workspace, workspace_cap, bound, bound_of_C, growth,
               likely_bound, largest_A, largest_B, largest_product, tasks, reason, candidates] = x;
}

void members(report const& x) {
  auto const& [plan, seconds, gflops, workspace, tasks, busy_seconds, idle_fraction, fell_back, precaution_seconds,
               precaution, scaling, check] = x;
}

void members(hybrid::options const& x) {
  auto const& [product, devices, logical_devices, cpu_share, max_device_memory, copy_threads, take_over, learn] = x;
}

void members(cuda::options const& x) {
  auto const& [max_error, guaranteed, max_workspace, max_levels, force_levels, algorithm, arithmetic, accumulation] = x;
}

void members(cuda::plan const& x) {
  auto const& [type, shape, arithmetic, stages, accumulation, tile, core_m, core_n, core_k, seconds, classical_seconds,
               workspace, workspace_cap, bound, growth, device, reason, candidates] = x;
}

}  // namespace heptad
