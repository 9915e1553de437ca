// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <catch2/catch.hpp>
#include <string>

namespace heptad::test {

/// The first occurrence of `from` replaced.
inline std::string replaced(std::string text, std::string const& from, std::string const& to) {
  auto const at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace heptad::test
