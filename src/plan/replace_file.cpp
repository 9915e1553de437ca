// SPDX-License-Identifier: BSD-3-Clause
#include "src/plan/replace_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <system_error>

namespace heptad {
namespace {

namespace fs = std::filesystem;

enum class writing {
  replace,     ///< a regular file, or none, in a folder that is there
  write_into,  ///< a device, a pipe, or what has been opened already
  error        ///< not at all; errno says why
};

struct destination {
  writing how = writing::error;
  fs::path path;                           ///< where links lead
  int descriptor = -1;                     ///< of this process, where the path is that of one, /dev/stdout say
  std::optional<struct stat> before = {};  ///< of a regular file that is there
};

/// Follows links, perhaps to nothing yet, but for those of /proc, which lead to what a process has opened. True when
/// it ends at one of them.
bool ends_in_proc(destination& to) {
  std::error_code failure;
  while (fs::is_symlink(to.path, failure)) {
    fs::path const folder = fs::canonical(to.path.parent_path() / ".", failure);
    if (folder.string().starts_with("/proc/")) {
      if (folder == fs::canonical("/proc/self/fd", failure)) to.descriptor = std::atoi(to.path.filename().c_str());
      return true;
    }
    to.path = to.path.parent_path() / fs::read_symlink(to.path, failure);
  }
  return false;
}

bool can_write_into(std::string const& path, int descriptor) {
  if (descriptor < 0) return access(path.c_str(), W_OK) == 0;
  int const flags = fcntl(descriptor, F_GETFL);
  if (flags >= 0 && (flags & O_ACCMODE) == O_RDONLY) errno = EBADF;
  return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
}

destination refused(int why) {
  errno = why;
  return {};
}

/// Makes the folders, too.
destination find_destination(std::string const& path) {
  destination to{writing::replace, path};
  struct stat is {};
  bool const there = stat(path.c_str(), &is) == 0;
  if (!there && errno != ENOENT) return refused(errno);
  if (there && S_ISDIR(is.st_mode)) return refused(EISDIR);
  bool const opened = ends_in_proc(to);
  if (there && !can_write_into(path, to.descriptor)) return refused(errno);
  if (opened || (there && !S_ISREG(is.st_mode))) {
    to.how = writing::write_into;
    return to;
  }
  if (!to.path.has_filename()) return refused(EISDIR);
  std::error_code failure;
  if (to.path.has_parent_path()) fs::create_directories(to.path.parent_path(), failure);
  if (failure) return refused(failure.value());
  if (there) to.before = is;
  return to;
}

/// Whether a file that nothing can take the place of, as errno says, is there to be written into.
bool is_left_in_place(destination const& to) {
  if (to.how != writing::replace) return to.how == writing::write_into;
  return to.before && (errno == EACCES || errno == EPERM || errno == EBUSY || errno == EROFS || errno == ENAMETOOLONG);
}

/// What cleans up after a failure leaves errno as it is.
struct same_errno {
  int const why = errno;
  ~same_errno() { errno = why; }
};

bool give_up(std::string const& file) {
  same_errno const at_the_end;
  unlink(file.c_str());
  return false;
}

/// Opens a file that nobody else has, with the owner and the permissions of the one that it is to replace, or with
/// those that the process gives to new files, which mkstemp would not. Negative when it cannot.
int open_beside(destination const& to, std::string& name) {
  static std::atomic<unsigned> number = 0;
  int file = -1;
  do {
    name = to.path.parent_path() / fmt::format(".heptad-{}-{}.new", getpid(), number++);
    file = open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, to.before ? 0600 : 0666);
  } while (file < 0 && errno == EEXIST);
  if (file < 0 || !to.before) return file;
  if (fchown(file, to.before->st_uid, to.before->st_gid) == 0 && fchmod(file, to.before->st_mode & 07777) == 0)
    return file;
  same_errno const at_the_end;
  unlink(name.c_str());
  close(file);
  return -1;
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

bool write_and_close(int file, std::initializer_list<std::string_view> pieces) {
  if (write_all(file, pieces)) return close(file) == 0;
  same_errno const at_the_end;
  close(file);
  return false;
}

}  // namespace

bool replace_file(std::string const& path, std::initializer_list<std::string_view> pieces) {
  destination const to = find_destination(path);
  std::string fresh;
  if (int const file = to.how == writing::replace ? open_beside(to, fresh) : -1; file >= 0) {
    if (!write_and_close(file, pieces)) return give_up(fresh);
    if (std::rename(fresh.c_str(), to.path.c_str()) == 0) return true;
    give_up(fresh);
  }
  if (!is_left_in_place(to)) return false;
  // What has been opened already goes on where it stands.
  int const file = to.descriptor >= 0 ? dup(to.descriptor) : open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
  return file >= 0 && write_and_close(file, pieces);
}

bool can_replace_file(std::string const& path) {
  destination const to = find_destination(path);
  std::string fresh;
  int const file = to.how == writing::replace ? open_beside(to, fresh) : -1;
  if (file < 0) return is_left_in_place(to);
  close(file);
  unlink(fresh.c_str());
  return true;
}

}  // namespace heptad
