// SPDX-License-Identifier: BSD-3-Clause
// The largest |x| of what is read. Every function is inlined always: files compiled for different instruction sets must
// not share a copy.
#pragma once

#include <cstdint>
#include <limits>

namespace heptad::cpu {

/// Raises `largest` (≥ 0) to |x|, and to infinity where x is NaN.
template <typename T>
[[gnu::always_inline]] inline void raise_magnitude(T& largest, T x) {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  T const magnitude = x < 0 ? -x : x;
  if (!(magnitude <= largest)) largest = magnitude == magnitude ? magnitude : infinity;
}

/// The largest T of which the upper 32 bits are these, without a sign; infinity where that is no number.
template <typename T>
[[gnu::always_inline]] inline T at_most(std::int32_t upper) {
  if constexpr (sizeof(T) == sizeof(upper)) {
    return __builtin_bit_cast(T, upper < 0x7f800000 ? upper : 0x7f800000);
  } else {
    constexpr std::int64_t beyond = std::int64_t{0x7ff00000} << 32;
    std::int64_t const bits = std::int64_t{upper} << 32 | 0xffffffff;
    return __builtin_bit_cast(T, bits < beyond ? bits : beyond);
  }
}

}  // namespace heptad::cpu
