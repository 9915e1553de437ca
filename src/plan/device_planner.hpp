// SPDX-License-Identifier: BSD-3-Clause
// Chooses the stages of a product on a CUDA device. Pure: no device is touched.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <heptad/cuda.hpp>

#include "src/plan/device_profile.hpp"

namespace heptad::cuda {

/// The cheapest plan that keeps to the wishes. cuBLAS alone when no level is predicted to gain least_gain() or none is
/// allowed. `free_memory`: bytes of device memory that may still be taken. C must be column-major.
/// Throws error{invalid_argument} naming an option that is out of range or an algorithm that is unknown.
plan choose_device_plan(element_type type, problem const& shape, std::size_t free_memory, device_profile const& device,
                        options const& wishes);

/// Whether choose_device_plan(), which made `how`, would make another plan if all memory of the device were free.
bool lacks_memory(plan const& how, device_profile const& device, options const& wishes);

/// The model errs by a few percent: a level must promise more than that. Narrow arithmetic runs at the limit of power,
/// which the rates of short measurements do not show: one H200 came to 0.98 where 1.04 was promised, 1.12 where 1.19
/// was.
constexpr double least_gain(arithmetic a) { return a == arithmetic::exact ? 1.02 : 1.06; }

/// A stage of so many levels of one algorithm. Composed algorithms are made once and kept.
stage make_stage(std::string const& algorithm, int levels, bool batched, bool fused = false);

/// The derived fields of a plan whose stages are set: core, seconds, workspace, bound, growth.
void complete_device_plan(plan& p, device_profile const& device);

/// "winograd, winograd x3 batched", or "cuBLAS alone".
std::string describe(std::vector<stage> const& stages);

void check_options(options const& wishes);

/// Those of a product that hold for devices too: errors, levels and algorithm.
options options_of(heptad::options const& wishes);

}  // namespace heptad::cuda
