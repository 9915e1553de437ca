// SPDX-License-Identifier: BSD-3-Clause
// Files that other processes may be reading: profiles and decisions.
#pragma once

#include <string>

namespace heptad {

/// Puts a file with this text in the place of `path`, whole or not at all, and makes its folders. False when it cannot.
bool replace_file(std::string const& path, std::string const& text);

}  // namespace heptad
