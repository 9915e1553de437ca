// SPDX-License-Identifier: BSD-3-Clause
#include "tools/bench/gemm_case.hpp"

#include <fmt/format.h>

#include <limits>
#include <stdexcept>

namespace heptad::bench {

std::string gemm_case::shape() const {
  std::string const sizes = m == n && n == k ? fmt::format("{}", m) : fmt::format("{}x{}x{}", m, n, k);
  return fmt::format("{}{}{}", sizes, transposes == "nn" ? "" : " " + transposes, operand_sets > 1 ? " cold" : "");
}

gemm_case parse_shape(std::string const& text) {
  std::vector<std::int64_t> sizes;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    std::size_t const end = std::min(text.find('x', begin), text.size());
    std::string const part = text.substr(begin, end - begin);
    std::size_t used = 0;
    std::int64_t value = 0;
    try {
      value = std::stoll(part, &used);
    } catch (std::exception const&) {
      used = std::string::npos;
    }
    if (used != part.size() || value < 1 || value > std::numeric_limits<std::int32_t>::max())
      throw std::invalid_argument(fmt::format("shape '{}': '{}' is no size between 1 and 2^31-1", text, part));
    sizes.push_back(value);
    begin = end + 1;
  }
  gemm_case shape;
  if (sizes.size() == 1) {
    shape.m = shape.n = shape.k = sizes[0];
  } else if (sizes.size() == 3) {
    shape.m = sizes[0], shape.n = sizes[1], shape.k = sizes[2];
  } else {
    throw std::invalid_argument(fmt::format("shape '{}': want N or MxNxK", text));
  }
  return shape;
}

}  // namespace heptad::bench
