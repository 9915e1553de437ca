// SPDX-License-Identifier: BSD-3-Clause
#include "src/plan/replace_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace heptad {
namespace {

/// Opens a file beside `path` that nobody else has, with the permissions that the process gives to new files, which
/// mkstemp would not. Negative when it cannot.
int open_beside(std::string const& path, std::string& name) {
  static std::atomic<unsigned> number = 0;
  int file = -1;
  do {
    name = fmt::format("{}.{}-{}.new", path, getpid(), number++);
    file = open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (file < 0 && errno == EEXIST);
  return file;
}

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    ssize_t const written = write(file, text.data(), text.size());
    if (written < 0 && errno != EINTR) return false;
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

bool replace_file(std::string const& path, std::string const& text) {
  std::filesystem::path const target(path);
  std::error_code failure;
  if (target.has_parent_path()) std::filesystem::create_directories(target.parent_path(), failure);
  std::string fresh;
  int const file = open_beside(path, fresh);
  if (file < 0) return false;
  bool const written = write_all(file, text);
  bool const replaced = close(file) == 0 && written && std::rename(fresh.c_str(), path.c_str()) == 0;
  if (!replaced) unlink(fresh.c_str());
  return replaced;
}

}  // namespace heptad
