// SPDX-License-Identifier: BSD-3-Clause
// Algorithms from files of the user's: read with care, since a path may lead anywhere.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include <fmt/format.h>

#include <heptad/heptad.hpp>

#include "src/algorithm/algorithm.hpp"

namespace heptad {

algorithm load_algorithm(std::string const& path) {
  auto const refuse = [&path](std::string const& why) {
    throw error(status::invalid_argument, fmt::format("{}: {}", path, why));
  };
  std::error_code problem;
  bool const is_file = std::filesystem::is_regular_file(path, problem);
  if (problem) refuse(problem.message());
  if (!is_file) refuse("not a file");
  auto const bytes = std::filesystem::file_size(path, problem);
  if (problem) refuse(problem.message());
  if (bytes > largest_algorithm_text)
    refuse(fmt::format("the file has {} bytes, more than {}", bytes, largest_algorithm_text));
  std::ifstream file(path, std::ios::binary);
  std::string const text{std::istreambuf_iterator<char>(file), {}};
  if (!file.is_open() || file.bad()) refuse("it cannot be read");
  return parse_algorithm(text, path);
}

}  // namespace heptad
