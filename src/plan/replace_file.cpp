// SPDX-License-Identifier: BSD-3-Clause
#include "src/plan/replace_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <system_error>

namespace heptad {
namespace {

namespace fs = std::filesystem;

/// Where the links of a path lead to, perhaps to nothing yet. Nothing when they lead in a circle, or into the kernel
/// alone, as those of /proc/self/fd do.
std::optional<fs::path> end_of_links(fs::path path) {
  constexpr int most_links = 40;
  std::error_code failure;
  for (int i = 0; i < most_links; ++i) {
    if (!fs::is_symlink(path, failure)) return path;
    path = path.parent_path() / fs::read_symlink(path, failure);
  }
  return std::nullopt;
}

/// A path that can be replaced: that of a regular file, or of none, in a folder that is there. Nothing for a device or
/// a pipe, which must be written to; `failure` when it is neither.
std::optional<fs::path> replaceable(std::string const& path, std::error_code& failure) {
  fs::file_type const is = fs::status(path, failure).type();
  if (is == fs::file_type::directory) failure = std::make_error_code(std::errc::is_a_directory);
  if (is != fs::file_type::regular && is != fs::file_type::not_found) return std::nullopt;
  failure.clear();  // that there is no such file is none
  auto const target = end_of_links(path);
  if (!target || (is == fs::file_type::regular && !fs::exists(*target, failure))) return std::nullopt;
  if (!target->has_filename()) failure = std::make_error_code(std::errc::is_a_directory);
  else if (target->has_parent_path()) fs::create_directories(target->parent_path(), failure);
  return target;
}

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

bool write_all(int file, std::initializer_list<std::string_view> pieces) {
  for (std::string_view rest : pieces)
    while (!rest.empty()) {
      ssize_t const written = write(file, rest.data(), rest.size());
      if (written < 0 && errno != EINTR) return false;
      if (written > 0) rest.remove_prefix(static_cast<std::size_t>(written));
    }
  return true;
}

/// Removes a file and leaves errno as it is; false.
bool give_up(std::string const& file) {
  int const why = errno;
  unlink(file.c_str());
  errno = why;
  return false;
}

bool write_into(std::string const& path, std::initializer_list<std::string_view> pieces) {
  int const file = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  bool const written = write_all(file, pieces);
  return close(file) == 0 && written;
}

}  // namespace

bool replace_file(std::string const& path, std::initializer_list<std::string_view> pieces) {
  std::error_code failure;
  auto const target = replaceable(path, failure);
  errno = failure.value();
  if (failure) return false;
  if (!target) return write_into(path, pieces);
  std::string fresh;
  int const file = open_beside(target->string(), fresh);
  if (file < 0) return false;
  bool const written = write_all(file, pieces);
  if (!written) close(file);
  else if (close(file) == 0 && std::rename(fresh.c_str(), target->c_str()) == 0) return true;
  return give_up(fresh);
}

bool can_replace_file(std::string const& path) {
  std::error_code failure;
  auto const target = replaceable(path, failure);
  errno = failure.value();
  if (failure) return false;
  if (!target) return access(path.c_str(), W_OK) == 0;
  std::string fresh;
  int const file = open_beside(target->string(), fresh);
  if (file < 0) return false;
  close(file);
  unlink(fresh.c_str());
  return true;
}

}  // namespace heptad
