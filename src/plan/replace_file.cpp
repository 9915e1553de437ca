// SPDX-License-Identifier: BSD-3-Clause
#include "src/plan/replace_file.hpp"

#include <filesystem>
#include <fstream>
#include <system_error>

namespace heptad {

bool replace_file(std::string const& path, std::string const& text) {
  std::filesystem::path const target(path);
  std::error_code failure;
  if (target.has_parent_path()) std::filesystem::create_directories(target.parent_path(), failure);
  std::string const fresh = path + ".new";
  std::ofstream file(fresh);
  file << text;
  file.close();
  if (file) std::filesystem::rename(fresh, path, failure);
  return file && !failure;
}

}  // namespace heptad
