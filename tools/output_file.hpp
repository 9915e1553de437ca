// SPDX-License-Identifier: BSD-3-Clause
// The files that commands write: tried before the work, whose result would be lost, and written whole or not at all.
// Folders that are missing are made.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace heptad::tools {

/// To be called before the work. Throws heptad::error with the path and the reason where it cannot be written; an empty
/// path is that of an option that was not given.
void require_writable(std::string const& path);

/// Throws heptad::error with the path and the reason.
void write_output(std::string const& path, std::initializer_list<std::string_view> pieces);
inline void write_output(std::string const& path, std::string_view text) { write_output(path, {text}); }

}  // namespace heptad::tools
