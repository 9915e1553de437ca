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

TEST_CASE("a command whose standard output cannot be written fails and says so") {
  folder const here;
  for (char const* command :
       {"explain gemm -m 8 -n 8 -k 8 --json", "explain gemm -m 8 -n 8 -k 8", "--help", "--version"}) {
    auto const result = heptad_run(here, std::string(command) + " >/dev/full");
    INFO(command);
    CHECK(result.code == 1);
    CHECK(result.err == "heptad: standard output could not be written: No space left on device\n");
  }
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

TEST_CASE("a file without a name is refused") {
  folder const here;
  std::string const arguments =
      GENERATE(as<std::string>(), "gemm A B -o ''", "search 2 2 2 -o ''", "search 2 2 2 --resume ''", "calibrate -o ''",
               "explain gemm -m 9 -n 9 -k 9 --dot ''", "explain gemm -m 9 -n 9 -k 9 --svg ''",
               "explain gemm -m 9 -n 9 -k 9 --trace ''", "bench gemm --json ''", "bench accuracy --json ''",
               "bench planner --json ''");
  auto const result = heptad_run(here, arguments);
  INFO(arguments << ": " << result.err);
  CHECK(result.code == 2);
  CHECK(result.err.ends_with(": '' must be the name of a file\n"));
}

TEST_CASE("a command that is refused leaves no folder for what it would have written") {
  folder const here;
  write_random<double>(here / "A.npy", 20, 30, false);
  write_random<float>(here / "F.npy", 20, 20, false);
  std::ofstream(here / "bad.json") << "{}";
  std::string const arguments =
      GENERATE(as<std::string>(), "gemm A.npy A.npy -o new/C", "gemm F.npy F.npy --alpha 1e300 -o new/C",
               "explain gemm -m 9 -n 9 -k 9 --algorithm quick --dot new/g", "search 2 2 2 --from quick -o new/f",
               "search 2 2 2 --resume bad.json -o new/f", "calibrate --kernel sse -o new/p",
               "bench gemm --peers nope --json new/r", "bench gemm --peers none --algorithm quick --json new/r",
               "bench accuracy --algorithms quick --json new/r");
  auto const result = heptad_run(here, arguments);
  INFO(arguments << ": " << result.err);
  CHECK(result.code != 0);
  CHECK_FALSE(fs::exists(here / "new"));
}

TEST_CASE("what would make a file larger than the process may write is an error that leaves nothing") {
  folder const here;
  write_random<double>(here / "A.npy", 200, 200, false);
  fs::create_directories(here / "out");
  auto const result = heptad_run(here, "gemm A.npy A.npy -o out/C.npy", "prlimit --fsize=8192");
  CHECK(result.code == 1);
  CHECK(result.err == "heptad: out/C.npy cannot be written: File too large\n");
  CHECK(fs::is_empty(here / "out"));
}

TEST_CASE("a file is not taken for a standard stream that is closed") {
  folder const here;
  write_random<double>(here / "A.npy", 20, 20, false);
  auto const result =
      heptad_run(here, "gemm A.npy A.npy -o C.npy --check >&-", "HEPTAD_TRACE=t.json HEPTAD_FORCE_LEVELS=1");
  CHECK(result.code == 1);
  CHECK(result.err == "heptad: standard output could not be written: Bad file descriptor\n");
  CHECK(nlohmann::json::parse(read_text(here / "t.json"), nullptr, false).is_array());
}

TEST_CASE("what goes to the file of the standard output comes with what is printed there") {
  folder const here;
  auto const result = heptad_run(here, "explain gemm -m 90 -n 90 -k 90 --dot /dev/stdout --svg /dev/fd/1");
  INFO(result.err);
  CHECK(result.code == 0);
  CHECK(result.out.starts_with("digraph"));
  auto const svg = result.out.find("</svg>\n"), plan = result.out.find("levels");
  CHECK((svg < plan && plan < result.out.find("machine ")));
}

TEST_CASE("a picture is the only file that drawing it makes, and stays where none can be drawn") {
  folder const here;
  std::ofstream(here / "g.svg.dot") << "mine";
  std::string const command = "explain gemm -m 90 -n 90 -k 90 --svg g.svg";
  CHECK(heptad_run(here, command).code == 0);
  CHECK(read_text(here / "g.svg.dot") == "mine");
  std::string const picture = read_text(here / "g.svg");
  CHECK(picture.ends_with("</svg>\n"));
  std::ofstream(here / "dot") << "#!/bin/sh\necho half; exit 1\n";
  fs::permissions(here / "dot", fs::perms::owner_all);
  auto const failed = heptad_run(here, command, "PATH=.");
  CHECK(failed.err == "heptad: g.svg could not be drawn by Graphviz (dot)\n");
  CHECK(read_text(here / "g.svg") == picture);
}

TEST_CASE("without a device nothing is made for its profile") {
  folder const here;
  auto const result = heptad_run(here, "calibrate --device cuda -o new/profiles.json", "CUDA_VISIBLE_DEVICES=");
  INFO(result.err);
  CHECK(result.code == 1);
  CHECK(is_one_line(result.err));
  CHECK_FALSE(fs::exists(here / "new"));
}

TEST_CASE("JSON is printed whatever bytes a name or a source has, and a search says its start as a shell reads it") {
  folder const here;
  std::string text = read_text(HEPTAD_ALGORITHMS_DIR "/winograd.txt");
  text.insert(text.find("\nsource ") + 8, "Gen\xe8ve ");
  std::ofstream(here / "a 'b'\xff.txt") << text;
  std::string const start = R"($'a \'b\'\xff.txt')";
  std::ofstream(here / "run") << "'" HEPTAD_PROGRAM "' search 2 2 2 --moves 10 --seconds 1000000 --json --from "
                              << start;
  CHECK(std::system(("cd '" + here.path.string() + "' && bash run >out 2>err").c_str()) == 0);
  INFO(read_text(here / "err"));
  auto const found = nlohmann::json::parse(read_text(here / "out"));
  CHECK(found["source"].get<std::string>().find(R"( --from 'a '\''b'\''�.txt')") != std::string::npos);
  fs::create_directories(here / "mine");
  text.replace(text.find("winograd"), 8, "latin1");
  std::ofstream(here / "mine/latin1.txt") << text;
  auto const algorithms = json_of(heptad_run(here, "info --json", "HEPTAD_ALGORITHMS=mine"))["algorithms"];
  CHECK(std::ranges::any_of(algorithms, [](auto const& x) {
    return x["source"].template get<std::string>().find("Gen�ve") != std::string::npos;
  }));
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
