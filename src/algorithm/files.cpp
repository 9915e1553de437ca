// SPDX-License-Identifier: BSD-3-Clause
// Algorithms from files of the user's: read with care, since a path may lead anywhere.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
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

std::vector<algorithm> load_directory(std::string const& directory) {
  std::vector<std::string> paths;
  std::error_code problem;
  for (std::filesystem::directory_iterator entry(directory, problem), end; !problem && entry != end;
       entry.increment(problem))
    if (entry->path().extension() == ".txt") paths.push_back(entry->path().string());
  if (problem) throw error(status::invalid_argument, fmt::format("{}: {}", directory, problem.message()));
  std::sort(paths.begin(), paths.end());
  std::vector<algorithm> list;
  std::map<std::string, std::string> path_of;
  for (std::string const& path : paths) {
    list.push_back(load_algorithm(path));
    if (auto const [other, is_new] = path_of.emplace(list.back().name, path); !is_new)
      throw error(status::invalid_argument,
                  fmt::format("{}: the name {} is that of {} too", path, list.back().name, other->second));
  }
  return list;
}

}  // namespace heptad
