// SPDX-License-Identifier: BSD-3-Clause
// Algorithms from files of the user's: read with care, since a path may lead anywhere.
#include <dirent.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
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
  std::string text(bytes, '\0');
  std::ifstream file(path, std::ios::binary);
  if (!file.read(text.data(), static_cast<std::streamsize>(bytes))) refuse("it cannot be read");
  return parse_algorithm(text, path);
}

namespace {

/// Of the files *.txt, sorted. std::filesystem would end the process where there is no memory for a name.
std::vector<std::string> text_files_in(std::string const& directory) {
  struct closing {
    void operator()(DIR* folder) const { closedir(folder); }
  };
  auto const refuse = [&directory](int problem) {
    throw error(status::invalid_argument, fmt::format("{}: {}", directory, std::generic_category().message(problem)));
  };
  std::unique_ptr<DIR, closing> const folder(opendir(directory.c_str()));
  if (!folder) refuse(errno);
  auto const next = [&folder] {
    errno = 0;
    return readdir(folder.get());
  };
  std::vector<std::string> paths;
  while (dirent const* const entry = next()) {
    std::filesystem::path const path = std::filesystem::path(directory) / entry->d_name;
    if (path.extension() == ".txt") paths.push_back(path.string());
  }
  if (errno != 0) refuse(errno);
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace

std::vector<algorithm> load_directory(std::string const& directory) {
  std::vector<std::string> const paths = text_files_in(directory);
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
