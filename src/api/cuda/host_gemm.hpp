// SPDX-License-Identifier: BSD-3-Clause
// Products of matrices in host memory by the current device, for callers inside Heptad.
#pragma once

#include <atomic>

#include <heptad/cuda.hpp>

#include "schedulers/cuda/backend.hpp"
#include "src/api/arguments.hpp"

namespace heptad::cuda {

/// As gemm() on host matrices in <heptad/cuda.hpp>. `touched` is set before the first element of C changes.
template <typename T>
host_report host_gemm(operands<T> const& x, host_options const& wishes, std::atomic<bool>& touched);

/// Such a product, C column-major and of positive extents, on the current device as it is now. Throws error as
/// host_gemm.
device_forecast predict_host_gemm(element_type type, problem const& shape, bool pinned, host_options const& wishes);

/// Of a matrix, by its ends: may devices copy it themselves? Throws error{invalid_argument} for memory of a device.
bool is_pinned(char const* name, void const* first, void const* last);

}  // namespace heptad::cuda
