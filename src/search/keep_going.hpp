// SPDX-License-Identifier: BSD-3-Clause
// How what takes long is ended early: it asks, a few hundred times a second or more often, whether it may go on.
#pragma once

#include <functional>

namespace heptad::search {

/// False: end now, with what there is.
using keep_going = std::function<bool()>;

inline keep_going const to_the_end = [] { return true; };

}  // namespace heptad::search
