// SPDX-License-Identifier: BSD-3-Clause
// Random matrices on the device, and how far two of them are apart.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heptad::bench {

/// Uniform in (−1, 1), the same for the same seed.
template <typename T>
void fill_random(T* data, std::size_t count, std::uint64_t seed);

/// ‖X − Y‖F / ‖Y‖F; NaN when X has one. Blocking.
template <typename T>
double relative_difference(T const* X, T const* Y, std::size_t count);

}  // namespace heptad::bench
