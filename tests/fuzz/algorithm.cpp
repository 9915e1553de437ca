// SPDX-License-Identifier: BSD-3-Clause
// The reader of algorithm files: what it takes satisfies the Brent equations, and reads the same when written again.
#include "src/algorithm/algorithm.hpp"

#include "tests/fuzz/target.hpp"

std::vector<std::string> heptad::fuzz::seeds() {
  std::vector<std::string> texts;
  for (char const* name : {"classical", "strassen", "winograd"}) texts.push_back(to_text(*find_algorithm(name)));
  return texts;
}

int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  return heptad::fuzz::take_or_refuse([&] {
    auto const x = heptad::parse_algorithm(std::string(reinterpret_cast<char const*>(data), size), "input");
    heptad::verify(x);
    std::string const text = heptad::to_text(x);
    heptad::fuzz::require(heptad::to_text(heptad::parse_algorithm(text, "written")) == text, "it reads as written");
  });
}
