// SPDX-License-Identifier: BSD-3-Clause
#include <catch2/catch.hpp>
#include <fstream>
#include <heptad/heptad.hpp>
#include <random>
#include <sstream>

#include "src/algorithm/algorithm.hpp"
#include "tests/algorithm/known.hpp"
#include "tests/algorithm/reference.hpp"
#include "tests/algorithm/replaced.hpp"

using namespace heptad;

namespace {

std::string read_file(std::string const& name) {
  std::ifstream in(std::string(HEPTAD_ALGORITHMS_DIR) + "/" + name, std::ios::binary);
  REQUIRE(in);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("an algorithm survives its text form") {
  auto check = [](algorithm const& x) {
    INFO(x.name);
    algorithm const y = parse_algorithm(to_text(x), "memory");
    CHECK((y.name == x.name && y.source == x.source && y.m == x.m && y.k == x.k && y.n == x.n));
    CHECK((y.U.entries == x.U.entries && y.V.entries == x.V.entries && y.W.entries == x.W.entries));
    CHECK((y.sums_A == x.sums_A && y.sums_B == x.sums_B && y.sums_C == x.sums_C));
  };
  for (auto const& x : heptad::test::known()) check(*x);
  check(kronecker(*find_algorithm("strassen"), *find_algorithm("huang323")));
}

TEST_CASE("fractions survive the text form") {
  // One product scaled by 2/3 · 3 · 1/2.
  algorithm x = *find_algorithm("strassen");
  for (int i = 0; i < 4; ++i) {
    x.U(i, 2) = x.U(i, 2) * rational(2, 3);
    x.V(i, 2) = x.V(i, 2) * rational(3);
    x.W(i, 2) = x.W(i, 2) * rational(1, 2);
  }
  set_plain_programs(x);
  algorithm const y = parse_algorithm(to_text(x), "memory");
  CHECK((y.U.entries == x.U.entries && y.sums_A == x.sums_A && y.sums_B == x.sums_B && y.sums_C == x.sums_C));
}

TEST_CASE("without additions programs a text gets plain ones") {
  std::string const text = read_file("winograd.txt");
  algorithm const x = parse_algorithm(text.substr(0, text.find("sums of A")), "winograd.txt");
  CHECK(additions(x.sums_A) == 7);  // 3 + 1 + 2 + 1 for s4, s1, s2, s3
  heptad::test::require_multiplies(x);
}

TEST_CASE("Windows line ends, comments and empty lines do not matter") {
  std::string text;
  for (char const c : read_file("strassen.txt"))
    text += c == '\n' ? std::string("\r\n\r\n  # remark\r\n") : std::string(1, c);
  CHECK(parse_algorithm(text, "strassen.txt").U.entries == find_algorithm("strassen")->U.entries);
}

TEST_CASE("a malformed text is refused with its line and the rule it broke") {
  std::string const good = read_file("winograd.txt");
  CHECK_NOTHROW(parse_algorithm(good, "w"));
  struct malformation {
    char const *from, *to, *message;
  };
  for (auto const& [from, to, message] : std::vector<malformation>{
           {"name winograd", "winograd", "w:3: 'name' is expected, not 'winograd'"},
           {"name winograd", "name", "w:3: 'name' has no value"},
           {"name winograd", "name a b", "w:3: 'b' is left over"},
           {"blocks 2 2 2", "blocks 2 2", "w:5: '' is not a number"},
           {"blocks 2 2 2", "blocks 2 0 2", "w:5: k is 0"},
           {"blocks 2 2 2", "blocks 2 2 1000000000", "w:5: n is 1000000000"},
           {"blocks 2 2 2", "blocks -2 2 2", "w:5: m is -2"},
           {"blocks 2 2 2", "blocks 2 2 5/2", "w:5: n is 5/2"},
           {"rank 7", "rank 9", "w:6: the rank is 9, not an integer from 1 to 8"},
           {"rank 7", "rank 99999999999999999999999", "w:6: the number '99999999999999999999999' is too large"},
           {"rank 7", "rank 6", "w:9: row 1 of U has more than 6"},
           {"\nV\n", "\nX\n", "w:14: the matrix 'V' is expected, not 'X'"},
           {" 0  1  1  0  0  0  0\n", " 0  1  1  0  0  0\n", "w:10: row 2 of U has 6 coefficients, not 7"},
           {" 0  1  1  0  0  0  0\n", " 0  1  1  0  0  0  0.5\n", "w:10: '0.5' is not a number"},
           {" 0  1  1  0  0  0  0\n", " 0  1  1  0  0  0  1/0\n", "w:10: the fraction 1/0"},
           {"sums of A", "sums of B", "w:26: 'sums of A' is expected"},
           {"s1 = a3 + a4", "s1 = a3 + a5", "w:27: 'a5' is not defined"},
           {"s1 = a3 + a4", "s1 = a3 + s2", "w:27: 's2' is not defined"},
           {"s1 = a3 + a4", "s1 = a3 + s1", "w:27: 's1' is not defined"},
           {"s1 = a3 + a4", "s1 = a3 + a3", "w:27: a sum has the same name twice"},
           {"s1 = a3 + a4", "s1 a3 + a4", "w:27: '=' is expected after 's1'"},
           {"s1 = a3 + a4", "s1 =", "w:27: a name is expected"},
           {"s1 = a3 + a4", "s1 = a3 a4", "w:27: 'a4' is left over"},
           {"s1 = a3 + a4", "s1 = 2 a3", "w:27: '*' and a name are expected after the number '2'"},
           {"s1 = a3 + a4", "s1 = 0*a3 + a4", "w:27: 'a3' has the coefficient 0"},
           {"s2 = s1 - a1", "s1 = s1 - a1", "w:28: 's1' is defined twice"},
           {"s2 = s1 - a1", "a2 = s1 - a1", "w:28: 'a2' is defined twice"},
           {"s4, a4, s1, s2, s3", "s4, a4, s1, s2", "w:31: there are 6 outputs, not 7"},
           {"s4, a4, s1, s2, s3", "s4, a4, s1, s2, s3, a1", "w:31: there are more than 7 outputs"},
           {"s4, a4, s1, s2, s3", "s4, a4, s1, s2, ", "w:31: a name is expected"},
           {"outputs: c11, c12, c21, c22", "", "the file ends too early"},
           {"outputs: c11, c12, c21, c22", "outputs: c11, c12, c21, c22\nmore", "'more' is left over"},
           {"c21 = u3 - p4", "c21 = u3 + p4", "w: algorithm winograd: the additions program of C gives input 4"},
           {" 0  1  1  0  0  0  0\n", " 0  1  2  0  0  0  0\n", "w: algorithm winograd: the Brent equation"},
       }) {
    INFO("'" << from << "' → '" << to << "'");
    CHECK_THROWS_WITH(parse_algorithm(test::replaced(good, from, to), "w"), Catch::Contains(message));
  }
}

TEST_CASE("texts that are no algorithm at all are refused") {
  for (std::string const& text :
       {std::string(), std::string("\n\n#\n"), std::string("name x"), std::string(1000, '\0'),
        std::string(9 << 20, 'x'), std::string("name x\nsource y\nblocks 16 16 16\nrank 4096\nU\n"),
        std::string("\xff\xfe\x00garbage", 10)})
    CHECK_THROWS_AS(parse_algorithm(text, "garbage"), error);
}

TEST_CASE("a legal size that would take too long to verify is refused") {
  std::string row, text = "name x\nsource y\nblocks 16 16 16\nrank 4096\n";
  for (int r = 0; r < 4096; ++r) row += "1 ";
  for (char const* matrix : {"U", "V", "W"}) {
    text += std::string(matrix) + "\n";
    for (int i = 0; i < 256; ++i) text += row + "\n";
  }
  CHECK_THROWS_WITH(parse_algorithm(text, "w"), Catch::Contains("too dense"));
}

TEST_CASE("messages quote garbage without control characters and at a bounded length") {
  try {
    parse_algorithm("name x\nsource y\nblocks \x1b[2J" + std::string(100000, 'z'), "garbage");
    FAIL("parsed");
  } catch (error const& e) {
    std::string const message = e.what();
    CHECK(message.size() < 400);
    CHECK(message.find('\x1b') == std::string::npos);
  }
}

TEST_CASE("numbers that overflow on verification are an error") {
  std::string text = read_file("classical.txt");
  text = test::replaced(text, "U\n1", "U\n9223372036854775807");
  text = test::replaced(text, "V\n1", "V\n9223372036854775807");
  CHECK_THROWS_WITH(parse_algorithm(text, "w"), Catch::Contains("overflow"));
}

TEST_CASE("any mutation of the text parses to a verified algorithm or is refused") {
  std::string const good = read_file("strassen.txt");
  std::mt19937 random(7);
  auto const below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
  int parsed = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    std::string text = good;
    for (std::size_t edits = 1 + below(3); edits > 0; --edits) {
      std::size_t const at = below(text.size());
      switch (below(4)) {
        case 0:
          text[at] = static_cast<char>(below(256));
          break;
        case 1:
          text.erase(at, 1 + below(4));
          break;
        case 2:
          text.insert(at, 1, good[below(good.size())]);
          break;
        default:
          text.insert(at, text.substr(below(text.size()), 1 + below(12)));
      }
    }
    try {
      algorithm const x = parse_algorithm(text, "fuzz");
      heptad::test::require_multiplies(x);
      ++parsed;
    } catch (error const& e) {
      REQUIRE(e.code() == status::invalid_argument);
    }
  }
  CHECK(parsed > 0);  // comments and the source may change
}

TEST_CASE("a name or source that would break its line cannot be written") {
  algorithm x = *find_algorithm("strassen");
  x.name = "two words";
  CHECK_THROWS_AS(to_text(x), error);
  x = *find_algorithm("strassen");
  x.source = "one\ntwo";
  CHECK_THROWS_AS(to_text(x), error);
}
