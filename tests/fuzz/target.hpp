// SPDX-License-Identifier: BSD-3-Clause
// What a fuzz target is: libFuzzer's entry point, and inputs to begin with. An input is taken, or refused by an error
// that says why; anything else ends the program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <heptad/heptad.hpp>

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size);

namespace heptad::fuzz {

std::vector<std::string> seeds();

/// How many inputs were taken: a target that refuses all of them tests little.
inline std::uint64_t taken = 0;

inline void require(bool holds, char const* property) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", property);
  std::abort();
}

/// `parse` takes the input, or throws an error of an invalid argument with a message.
template <typename Parse>
int take_or_refuse(Parse const& parse) {
  try {
    parse();
    ++taken;
  } catch (error const& e) {
    require(e.code() == status::invalid_argument, "a refused input is an invalid argument");
    require(e.what()[0] != '\0', "an error says why");
  }
  return 0;
}

}  // namespace heptad::fuzz
