// SPDX-License-Identifier: BSD-3-Clause
#include "src/plan/replace_file.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "tests/temporary_folder.hpp"

using heptad::replace_file;

namespace {

/// Each writer has a letter and a length of its own.
std::string text_of(int writer) {
  return std::string(100'000 + 30'000 * static_cast<std::size_t>(writer), static_cast<char>('a' + writer));
}

bool write_often(std::string const& path, int writer) {
  bool good = true;
  for (int i = 0; i < 100; ++i) good = replace_file(path, text_of(writer)) && good;
  return good;
}

std::string text_in(std::string const& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool is_whole(std::string const& path) {
  std::string const text = text_in(path);
  return !text.empty() && text == text_of(text.front() - 'a');
}

/// Whether it holds in a process of its own, whose user root is not.
template <typename Holds>
bool holds_for_a_user(Holds const& holds) {
  pid_t const process = fork();
  if (process == 0) {
    constexpr id_t nobody = 65534;
    bool const is_user = getuid() != 0 || (setgid(nobody) == 0 && setuid(nobody) == 0);
    _exit(is_user && holds() ? 0 : 1);
  }
  int status = -1;
  waitpid(process, &status, 0);
  return status == 0;
}

struct stat status_of(std::string const& path) {
  struct stat is {};
  REQUIRE(stat(path.c_str(), &is) == 0);
  return is;
}

}  // namespace

TEST_CASE("who reads a file while threads and processes replace it finds one of their texts, whole") {
  heptad::test::temporary_folder const folder;
  std::string const path = (folder.path() / "deeper" / "file").string();
  REQUIRE(replace_file(path, text_of(0)));
  std::vector<pid_t> processes;
  for (int const writer : {0, 1}) {
    processes.push_back(fork());
    if (processes.back() == 0) _exit(write_often(path, writer) ? 0 : 1);
  }
  std::atomic<int> writing = 2, failed = 0;
  std::vector<std::thread> threads;
  for (int const writer : {2, 3}) {
    threads.emplace_back([&, writer] {
      if (!write_often(path, writer)) ++failed;
      --writing;
    });
  }
  int torn = 0;
  while (writing > 0) torn += is_whole(path) ? 0 : 1;
  for (std::thread& t : threads) t.join();
  for (pid_t const process : processes) {
    int status = -1;
    waitpid(process, &status, 0);
    CHECK(status == 0);
  }
  CHECK(failed == 0);
  CHECK(torn == 0);
  CHECK(is_whole(path));
  using files = std::filesystem::directory_iterator;
  CHECK(std::distance(files(folder.path() / "deeper"), files()) == 1);
}

TEST_CASE("what a link leads to is replaced, and the link stays") {
  heptad::test::temporary_folder const folder;
  namespace fs = std::filesystem;
  for (char const* target : {"there", "deeper/missing"}) {
    fs::path const link = folder.path() / "link", further = folder.path() / "further";
    std::ofstream(folder.path() / "there") << "before";
    fs::create_symlink(target, link);
    fs::create_symlink(link, further);
    CHECK(heptad::can_replace_file(further));
    CHECK(replace_file(further, text_of(1)));
    CHECK((fs::is_symlink(link) && fs::is_symlink(further)));
    CHECK(is_whole(folder.path() / target));
    fs::remove(link);
    fs::remove(further);
  }
  fs::create_symlink("circle", folder.path() / "circle");
  CHECK_FALSE(heptad::can_replace_file(folder.path() / "circle"));
  CHECK_FALSE(replace_file(folder.path() / "circle", "text"));
}

TEST_CASE("a device is written to, and stays one") {
  heptad::test::temporary_folder const folder;
  std::filesystem::create_symlink("/dev/full", folder.path() / "full");
  for (std::string const& path : {std::string("/dev/full"), (folder.path() / "full").string()}) {
    CHECK(heptad::can_replace_file(path));
    CHECK_FALSE(replace_file(path, "text"));
    CHECK(errno == ENOSPC);
  }
  CHECK(replace_file("/dev/null", "text"));
  CHECK((std::filesystem::is_character_file("/dev/full") && std::filesystem::is_character_file("/dev/null")));
}

TEST_CASE("whether a file can be replaced is known before, and asking changes nothing") {
  heptad::test::temporary_folder const folder;
  std::string const path = (folder.path() / "file").string();
  CHECK(heptad::can_replace_file(path));
  CHECK_FALSE(std::filesystem::exists(path));
  REQUIRE(replace_file(path, text_of(0)));
  CHECK(heptad::can_replace_file(path));
  CHECK(is_whole(path));
  CHECK_FALSE(heptad::can_replace_file(path + "/below"));
  CHECK_FALSE(heptad::can_replace_file(folder.path().string()));
  CHECK_FALSE(heptad::can_replace_file(path + ".folder/"));
  CHECK_FALSE(heptad::can_replace_file(""));
}

TEST_CASE("a file that cannot be replaced stays, and nothing is left beside it") {
  heptad::test::temporary_folder const folder;
  std::filesystem::create_directories(folder.path() / "taken" / "by a folder");
  CHECK_FALSE(replace_file((folder.path() / "taken").string(), "text"));
  using files = std::filesystem::directory_iterator;
  CHECK(std::distance(files(folder.path()), files()) == 1);
}

TEST_CASE("a file that is replaced keeps its owner and permissions") {
  heptad::test::temporary_folder const folder;
  std::string const path = folder.path() / "file";
  std::ofstream(path) << "before";
  for (mode_t const mode : {0600U, 0664U, 04711U}) {
    if (getuid() == 0) REQUIRE(chown(path.c_str(), 1234, 4321) == 0);
    REQUIRE(chmod(path.c_str(), mode) == 0);
    struct stat const before = status_of(path);
    CHECK(heptad::can_replace_file(path));
    CHECK(replace_file(path, text_of(0)));
    struct stat const after = status_of(path);
    CHECK((after.st_mode == before.st_mode && after.st_uid == before.st_uid && after.st_gid == before.st_gid));
    CHECK(after.st_ino != before.st_ino);
  }
}

TEST_CASE("a file that its caller may not write to stays, which is known before") {
  heptad::test::temporary_folder const folder;
  std::string const path = folder.path() / "file";
  std::ofstream(path) << "before";
  REQUIRE((chmod(path.c_str(), 0444) == 0 && chmod(folder.path().c_str(), 0777) == 0));
  CHECK(holds_for_a_user([&] { return !heptad::can_replace_file(path) && errno == EACCES; }));
  CHECK(holds_for_a_user([&] { return !replace_file(path, "text") && errno == EACCES; }));
  CHECK(text_in(path) == "before");
}

TEST_CASE("a file that may be written but not replaced is written into") {
  heptad::test::temporary_folder const folder;
  std::string const path = folder.path() / "file";
  std::ofstream(path) << std::string(200'000, '-');
  REQUIRE(chmod(path.c_str(), 0666) == 0);
  ino_t const before = status_of(path).st_ino;
  SECTION("in a folder that may not") {
    REQUIRE(chmod(folder.path().c_str(), 0555) == 0);
    CHECK(holds_for_a_user([&] { return heptad::can_replace_file(path) && replace_file(path, text_of(0)); }));
    CHECK(holds_for_a_user([&] { return !heptad::can_replace_file(path + "2") && !replace_file(path + "2", ""); }));
    REQUIRE(chmod(folder.path().c_str(), 0755) == 0);
  }
  SECTION("as another's in a folder of all") {
    if (getuid() != 0) return;  // who has no file of another's here
    REQUIRE(chmod(folder.path().c_str(), 01777) == 0);
    CHECK(holds_for_a_user([&] { return heptad::can_replace_file(path) && replace_file(path, text_of(0)); }));
  }
  SECTION("as it is mounted") {
    std::string const below = folder.path() / "below";
    std::ofstream(below) << "below";
    pid_t const process = fork();
    if (process == 0) {
      if (unshare(CLONE_NEWNS) != 0 || mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
        _exit(2);  // not here
      if (mount(path.c_str(), below.c_str(), nullptr, MS_BIND, nullptr) != 0) _exit(2);
      _exit(heptad::can_replace_file(below) && replace_file(below, text_of(0)) ? 0 : 1);
    }
    int status = -1;
    waitpid(process, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 2) return;
    CHECK(status == 0);
    CHECK(text_in(below) == "below");
    std::filesystem::remove(below);
  }
  CHECK(text_in(path) == text_of(0));
  CHECK(status_of(path).st_ino == before);
  using files = std::filesystem::directory_iterator;
  CHECK(std::distance(files(folder.path()), files()) == 1);
}

TEST_CASE("names may be as long as the system takes them, and longer ones are refused before") {
  heptad::test::temporary_folder const folder;
  for (std::size_t const length : {250U, 255U}) {
    std::string const path = folder.path() / std::string(length, 'x');
    CHECK(heptad::can_replace_file(path));
    CHECK(replace_file(path, text_of(0)));
    CHECK(is_whole(path));
  }
  CHECK_FALSE(heptad::can_replace_file(folder.path() / std::string(256, 'x')));
  CHECK(errno == ENAMETOOLONG);
}

TEST_CASE("a descriptor is written to where it stands") {
  heptad::test::temporary_folder const folder;
  std::string const path = folder.path() / "file", link = folder.path() / "link";
  int const file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  REQUIRE(file >= 0);
  std::filesystem::create_symlink("/proc/self/fd/" + std::to_string(file), link);
  REQUIRE(write(file, "before ", 7) == 7);
  CHECK(heptad::can_replace_file(link));
  CHECK(replace_file(link, "one "));
  CHECK(replace_file("/dev/fd/" + std::to_string(file), "two "));
  REQUIRE(write(file, "after", 5) == 5);
  CHECK(text_in(path) == "before one two after");
  close(file);
  int const reading = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  CHECK_FALSE(heptad::can_replace_file("/dev/fd/" + std::to_string(reading)));
  CHECK(errno == EBADF);
  close(reading);
}
