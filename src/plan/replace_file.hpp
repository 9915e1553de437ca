// SPDX-License-Identifier: BSD-3-Clause
// Files that other processes may be reading: profiles and decisions, and what the program writes.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace heptad {

/// Puts a file with this text, in pieces, in the place of `path`, whole or not at all, and makes its folders. A link
/// stays one: what it leads to is replaced. The file keeps owner and permissions; its other names (hard links) keep the
/// text before. Written into are devices, pipes, descriptors (/dev/stdout), and files whose place nothing can take, as
/// their folder is not writable, they are mounted, or the caller cannot give them their owner. False when it cannot, as
/// where the caller may not write to what is there; then errno says why.
bool replace_file(std::string const& path, std::initializer_list<std::string_view> pieces);
inline bool replace_file(std::string const& path, std::string_view text) { return replace_file(path, {text}); }

/// Whether replace_file() can begin, for those who ask before a long work: makes the folders, and changes nothing else.
bool can_replace_file(std::string const& path);

}  // namespace heptad
