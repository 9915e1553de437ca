// SPDX-License-Identifier: BSD-3-Clause
// Smaller algorithms put together, as a start for a walk: closer to the lowest ranks than the classical algorithm is.
#pragma once

#include "src/algorithm/algorithm.hpp"
#include "src/search/scheme.hpp"

namespace heptad::search {

/// ⟨m,k,n;R⟩ and ⟨m,k,n';R'⟩ as ⟨m,k,n+n';R+R'⟩, or likewise along m or k, whichever gives `what`; with plain additions
/// programs. Throws heptad::error where none does.
algorithm join(algorithm const& x, algorithm const& y, shape const& what);

/// x for the first blocks of A, B and C, and the classical algorithm for the other products of blocks (as Arai,
/// Ichikawa and Hukushima 2024 grow schemes); x itself where it is of this shape. Throws heptad::error where a side of
/// x is too long.
algorithm extend(algorithm const& x, shape const& what);

}  // namespace heptad::search
