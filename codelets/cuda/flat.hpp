// SPDX-License-Identifier: BSD-3-Clause
// An additions program as a list of integers, by which a pass finds the kernel that the build made for it.
#pragma once

#include <cstdint>
#include <vector>

#include "src/algorithm/additions_program.hpp"

namespace heptad::cuda {

/// inputs, steps, outputs; then for each step its number of terms, and for each term and output: value, numerator and
/// denominator of the coefficient.
std::vector<std::int32_t> flat(additions_program const& program);

}  // namespace heptad::cuda
