// SPDX-License-Identifier: BSD-3-Clause
// The text files under algorithms/, as the build found them.
#pragma once

#include <span>
#include <string_view>

namespace heptad {

struct embedded_file {
  char const* name;
  std::string_view text;
};

std::span<embedded_file const> embedded_algorithms();

}  // namespace heptad
