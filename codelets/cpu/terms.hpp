// SPDX-License-Identifier: BSD-3-Clause
// What the loops around the macro-kernel share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "codelets/cpu/kernel_set.hpp"
#include "src/matrix/limits.hpp"

namespace heptad::cpu {

constexpr std::int64_t round_up(std::int64_t x, std::int64_t granule) { return (x + granule - 1) / granule * granule; }

/// Sets `moved` to the same sum `offset` elements further on; returns how many terms it has.
template <typename T>
int move_terms(std::span<term<T> const> terms, std::int64_t offset, term<T> (&moved)[most_terms]) {
  std::ranges::transform(terms, moved, [offset](term<T> t) { return term<T>{t.data + offset, t.coefficient}; });
  return static_cast<int>(terms.size());
}

}  // namespace heptad::cpu
