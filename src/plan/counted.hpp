// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace heptad {

/// "1 slot", "2 slots"
template <typename Count>
std::string counted(Count count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace heptad
