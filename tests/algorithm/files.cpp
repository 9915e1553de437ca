// SPDX-License-Identifier: BSD-3-Clause
// Algorithms from files of the user's: found by path, made known by directory, refused when anything is wrong.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <heptad/heptad.hpp>
#include <string>

#include "src/algorithm/algorithm.hpp"
#include "tests/algorithm/reference.hpp"
#include "tests/algorithm/replaced.hpp"
#include "tests/temporary_folder.hpp"

using namespace heptad;

namespace {

struct directory : test::temporary_folder {
  [[nodiscard]] std::string write(char const* name, std::string const& text) const {
    std::ofstream(path() / name, std::ios::binary) << text;
    return (path() / name).string();
  }
};

std::string text_of(char const* known, char const* name) {
  algorithm x = *find_algorithm(known);
  x.name = name;
  return to_text(x);
}

}  // namespace

TEST_CASE("a path finds the algorithm of a file, read once") {
  directory const here;
  std::string const path = here.write("mine.txt", text_of("huang323", "mine323"));
  auto const x = find_algorithm(path);
  REQUIRE(x);
  CHECK((x->name == "mine323" && x->m == 3 && x->k == 2 && x->rank() == 15));
  CHECK(find_algorithm(path) == x);
  CHECK(find_algorithm("mine323") == nullptr);  // a path makes no name known
  auto const composed = find_algorithm("strassen*" + path);
  REQUIRE(composed);
  CHECK(composed->rank() == 105);
}

TEST_CASE("a directory makes its algorithms and their symmetries known") {
  directory const here;
  static_cast<void>(here.write("a.txt", text_of("huang323", "anew323")));
  static_cast<void>(here.write("b.txt", text_of("strassen", "again")));
  static_cast<void>(here.write("notes.md", "not an algorithm"));
  add_algorithms(here.path().string());
  for (char const* name : {"anew323", "anew233", "anew332", "again"}) {
    INFO(name);
    auto const x = find_algorithm(name);
    REQUIRE(x);
    CHECK(x->name == name);
    heptad::test::require_multiplies(*x);
  }
  CHECK_THROWS_WITH(add_algorithms(here.path().string()),
                    Catch::Contains("is that of an algorithm that is known already"));
}

TEST_CASE("a directory with a wrong file is refused, and none of its algorithms becomes known") {
  directory const here;
  static_cast<void>(here.write("a.txt", text_of("strassen", "innocent")));
  SECTION("a coefficient is wrong") {
    static_cast<void>(here.write("b.txt", test::replaced(text_of("strassen", "b"), "U\n 1", "U\n 2")));
    CHECK_THROWS_WITH(add_algorithms(here.path().string()),
                      Catch::Contains("b.txt") && Catch::Contains("the Brent equation (i,i',j,j',p,p') ="));
  }
  SECTION("a line is wrong") {
    static_cast<void>(here.write("b.txt", test::replaced(text_of("strassen", "b"), "rank 7", "rank 0")));
    CHECK_THROWS_WITH(add_algorithms(here.path().string()), Catch::Contains("b.txt:4: the rank is 0"));
  }
  SECTION("two files have one name") {
    static_cast<void>(here.write("b.txt", text_of("winograd", "innocent")));
    CHECK_THROWS_WITH(add_algorithms(here.path().string()),
                      Catch::Contains("b.txt: the name innocent is that of") && Catch::Contains("a.txt"));
  }
  SECTION("the name of a built-in algorithm is taken") {
    static_cast<void>(here.write("b.txt", text_of("strassen", "huang332")));
    CHECK_THROWS_WITH(add_algorithms(here.path().string()), Catch::Contains("the name huang332"));
  }
  CHECK(find_algorithm("innocent") == nullptr);
  CHECK_THROWS_WITH(add_algorithms((here.path() / "nowhere").string()), Catch::Contains("nowhere: No such file"));
}

TEST_CASE("hostile files are refused with a message that says why") {
  directory const here;
  std::string const good = text_of("strassen", "x");
  std::string const head = "name x\nsource y\nblocks 2 2 2\nrank 7\n";
  struct hostile {
    char const* what;
    std::string text;
    char const* message;
  };
  for (auto const& [what, text, message] : std::vector<hostile>{
           {"empty", "", "ends too early"},
           {"binary",
            std::string("\x7f"
                        "ELF\0\1\2\3",
                        8),
            "the file is no text: it has a byte 0"},
           {"binary without a 0", "\x7f\x45LF\x01\xff \n", ":1: 'name' is expected, not '\\x7fELF\\x01\\xff'"},
           {"huge dimensions", "name x\nsource y\nblocks 4294967298 2 2\nrank 7\n", "m is 4294967298"},
           {"huge rank", "name x\nsource y\nblocks 2 2 2\nrank 2147483649\n", "the rank is 2147483649"},
           {"a rank that no file has room for", "name x\nsource y\nblocks 16 16 16\nrank 4096\nU\n1\n", "not 4096"},
           {"not a number", head + "U\nnan 0 0 0 0 0 0\n", "'nan' is not a number"},
           {"infinite", head + "U\ninf 0 0 0 0 0 0\n", "'inf' is not a number"},
           {"numerator overflows", head + "U\n9223372036854775808 0 0 0 0 0 0\n", "too large"},
           {"denominator overflows", head + "U\n1/9223372036854775808 0 0 0 0 0 0\n", "too large"},
           {"smallest integer", head + "U\n-9223372036854775808 0 0 0 0 0 0\n", "too large"},
           {"truncated behind a matrix", good.substr(0, good.find("\nW\n")), "ends too early"},
           {"truncated within a row", good.substr(0, good.find("\nW\n") + 8),
            ":19: row 1 of W has 2 coefficients, not 7"},
           {"a long line", head + "U\n" + std::string(100'000'000, '1') + "\n", "bytes, more than 8388608"},
           {"a long line of blanks", head + "U\n" + std::string(8'000'000, ' ') + "\n", "ends too early"},
           {"a long number", head + "U\n" + std::string(8'000'000, '1') + "\n", "too large"},
           {"many zeros in front", head + "U\n" + std::string(1000, '0') + "x", "is not a number"},
       }) {
    INFO(what);
    std::string const path = here.write("hostile.txt", text);
    CHECK_THROWS_WITH(load_algorithm(path), Catch::Contains(path) && Catch::Contains(message));
  }
}

TEST_CASE("what is no file is refused") {
  directory const here;
  CHECK_THROWS_WITH(load_algorithm(here.path().string()), Catch::Contains("not a file"));
  CHECK_THROWS_WITH(load_algorithm((here.path() / "none.txt").string()), Catch::Contains("No such file"));
  CHECK_THROWS_WITH(find_algorithm("./none.txt"), Catch::Contains("No such file"));
  CHECK_THROWS_WITH(load_algorithm("/dev/zero"), Catch::Contains("not a file"));
}

TEST_CASE("a file that cannot be read is refused with its path") {
  directory const here;
  CHECK_THROWS_WITH(load_algorithm("/proc/self/mem"), Catch::StartsWith("/proc/self/mem:"));
  std::filesystem::create_symlink("/proc/self/mem", here.path() / "x.txt");
  CHECK_THROWS_WITH(add_algorithms(here.path().string()), Catch::Contains("x.txt:"));
}
