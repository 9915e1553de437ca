// SPDX-License-Identifier: BSD-3-Clause
// What commands write, and where: files, links and devices, and folders that are missing.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "tests/tools/program.hpp"
#include "tools/npy.hpp"

using namespace heptad::test;

TEST_CASE("gemm writes through links and into devices and pipes, and leaves them what they are") {
  folder const here;
  write_random<double>(here / "A.npy", 20, 20, false);
  fs::create_directories(here / "deeper");
  fs::create_symlink("deeper/C.npy", here / "to_file");
  fs::create_symlink("deeper/none.npy", here / "to_nothing");
  fs::create_symlink("/dev/full", here / "to_full");
  fs::create_symlink("/dev/null", here / "to_null");
  std::ofstream(here / "deeper/C.npy") << "before";
  for (char const* link : {"to_file", "to_nothing", "to_null"}) {
    INFO(link);
    CHECK(heptad_run(here, std::string("gemm A.npy A.npy -o ") + link).code == 0);
    CHECK(fs::is_symlink(here / link));
  }
  for (char const* file : {"deeper/C.npy", "deeper/none.npy"})
    CHECK(heptad::tools::npy_file(here / file).header().rows == 20);
  for (char const* full : {"to_full", "/dev/full"}) {
    auto const result = heptad_run(here, std::string("gemm A.npy A.npy -o ") + full);
    CHECK(result.code == 1);
    CHECK(result.err == std::string("heptad: ") + full + " cannot be written: No space left on device\n");
  }
  CHECK(fs::is_symlink(here / "to_full"));
  CHECK(fs::is_character_file("/dev/full"));
  CHECK(fs::is_character_file("/dev/null"));
  REQUIRE(mkfifo((here / "pipe").c_str(), 0600) == 0);
  int const reader = open((here / "pipe").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);  // it holds 64 KiB
  REQUIRE(reader >= 0);
  CHECK(heptad_run(here, "gemm A.npy A.npy -o pipe").code == 0);
  CHECK(fs::is_fifo(here / "pipe"));
  std::string piped(10'000, ' ');
  piped.resize(static_cast<std::size_t>(std::max<ssize_t>(read(reader, piped.data(), piped.size()), 0)));
  close(reader);
  CHECK(piped == read_text(here / "deeper/C.npy"));
}

TEST_CASE("what cannot be written is refused before the work") {
  folder const here;
  write_random<double>(here / "A.npy", 20, 20, false);
  std::ofstream(here / "file") << "no folder";
  fs::create_directories(here / "folder");
  auto const [command, option] =
      GENERATE(table<std::string, std::string>({{"gemm A.npy A.npy --repeat 1000000000", "-o"},
                                                {"search 5 5 5 --rank 1 --seconds 1000000", "-o"},
                                                {"search 5 5 5 --rank 1 --seconds 1000000", "--resume"},
                                                {"calibrate", "-o"},
                                                {"explain gemm -m 9 -n 9 -k 9", "--dot"},
                                                {"explain gemm -m 9 -n 9 -k 9", "--svg"},
                                                {"explain gemm -m 9 -n 9 -k 9", "--trace"},
                                                {"bench gemm --sizes 64 --peers none --min-seconds 1000000", "--json"},
                                                {"bench accuracy --sizes 512", "--json"},
                                                {"bench planner", "--json"}}));
  for (auto const& [path, why] : {std::pair{"file/out", "Not a directory"}, {"folder", "Is a directory"}}) {
    auto const result = heptad_run(here, command + ' ' + option + ' ' + path);
    INFO(command << ": " << result.err);
    CHECK(result.code == 1);
    CHECK(result.out.empty());
    CHECK(result.err == std::string("heptad: ") + path + " cannot be written: " + why + '\n');
  }
}

TEST_CASE("folders that are missing are made") {
  folder const here;
  write_random<double>(here / "A.npy", 20, 20, false);
  CHECK(heptad_run(here, "gemm A.npy A.npy -o one/two/C.npy").code == 0);
  CHECK(heptad_run(here, "search 1 1 1 --rank 1 --moves 10 -o three/f.txt --resume four/s.json").code == 0);
  CHECK(heptad_run(here, "explain gemm -m 90 -n 90 -k 90 --dot d/g.dot --svg s/g.svg --trace t/t.json").code == 0);
  for (char const* file : {"one/two/C.npy", "three/f.txt", "four/s.json", "d/g.dot", "s/g.svg", "t/t.json"}) {
    INFO(file);
    CHECK(fs::file_size(here / file) > 0);
  }
}

TEST_CASE("a name that no file can hold is refused before the search") {
  folder const here;
  auto const result = heptad_run(here, "search 5 5 5 --rank 1 --seconds 1000000 --name 'a b'");
  CHECK(result.code == 2);
  CHECK(result.err == "heptad: --name: 'a b' must be one word\n");
}
