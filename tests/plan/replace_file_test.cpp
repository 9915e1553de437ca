// SPDX-License-Identifier: BSD-3-Clause
#include "src/plan/replace_file.hpp"

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

bool is_whole(std::string const& path) {
  std::ifstream file(path);
  std::string const text{std::istreambuf_iterator<char>(file), {}};
  return !text.empty() && text == text_of(text.front() - 'a');
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
