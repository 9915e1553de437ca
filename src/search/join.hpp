// SPDX-License-Identifier: BSD-3-Clause
// Two algorithms side by side, as a start for a walk: closer to the lowest ranks than the classical algorithm is.
#pragma once

#include "src/algorithm/algorithm.hpp"
#include "src/search/scheme.hpp"

namespace heptad::search {

/// ⟨m,k,n;R⟩ and ⟨m,k,n';R'⟩ as ⟨m,k,n+n';R+R'⟩, or likewise along m or k, whichever gives `what`; with plain additions
/// programs. Throws heptad::error where none does.
algorithm join(algorithm const& x, algorithm const& y, shape const& what);

}  // namespace heptad::search
