// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <new>

namespace heptad::blas {

/// A line on stderr, in one piece; where that is closed or full, and without memory for it, there is none.
template <typename... Args>
void say(fmt::format_string<Args...> text, Args const&... args) noexcept {
  try {
    fmt::memory_buffer line;
    fmt::format_to(fmt::appender(line), "heptad-blas: ");
    fmt::vformat_to(fmt::appender(line), text, fmt::make_format_args(args...));
    line.push_back('\n');
    std::fwrite(line.data(), 1, line.size(), stderr);
  } catch (std::bad_alloc const&) {
  }
}

}  // namespace heptad::blas
