// SPDX-License-Identifier: BSD-3-Clause
// .npy files: good ones of every version and order, and hostile ones.
#include "tools/npy.hpp"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

namespace {

namespace fs = std::filesystem;

/// The bytes of a file: version, header text as it is, elements.
std::string npy_bytes(int version, std::string header, std::string const& elements, bool pad = true) {
  std::size_t const fixed = version == 1 ? 10 : 12;
  if (pad) header.append(64 - (fixed + header.size() + 1) % 64, ' ').append("\n");
  std::string bytes = "\x93NUMPY";
  bytes += static_cast<char>(version);
  bytes += '\0';
  for (std::size_t i = 0; i < fixed - 8; ++i) bytes += static_cast<char>(header.size() >> 8 * i & 0xff);
  return bytes + header + elements;
}

std::string doubles(std::initializer_list<double> values) {
  return {reinterpret_cast<char const*>(std::data(values)), values.size() * sizeof(double)};
}

struct temporary_file {
  fs::path path = fs::temp_directory_path() / ("heptad-npy-" + std::to_string(getpid()) + ".npy");
  explicit temporary_file(std::string const& bytes) { std::ofstream(path, std::ios::binary) << bytes; }
  ~temporary_file() { fs::remove(path); }
};

std::string failure(std::string const& bytes) {
  temporary_file const file(bytes);
  try {
    heptad::tools::npy_file const read(file.path);
  } catch (heptad::error const& e) {
    std::string const text = e.what();
    CHECK(text.starts_with(file.path.string() + ": "));
    return text.substr(file.path.string().size() + 2);
  }
  return "no error";
}

std::string const good = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }";

}  // namespace

TEST_CASE("files of versions 1 to 3 are read in both orders") {
  std::string const elements = doubles({1, 2, 3, 4, 5, 6});
  for (int version = 1; version <= 3; ++version) {
    temporary_file const rows(npy_bytes(version, good, elements));
    heptad::tools::npy_file const read(rows.path);
    auto const X = read.view<double>();
    CHECK((X.rows == 2 && X.cols == 3 && X.row_stride == 3 && X.col_stride == 1));
    CHECK((X.data[0] == 1 && X.data[5] == 6));
  }
  temporary_file const columns(npy_bytes(1, "{\"shape\":(2,3),\"fortran_order\":True,\"descr\":\"<f8\"}", elements));
  auto const read = heptad::tools::npy_file(columns.path);
  CHECK(read.header().fortran_order);
  CHECK(read.view<double>().col_stride == 2);
}

TEST_CASE("what is written is read back") {
  fs::path const path = temporary_file("").path;
  for (bool const fortran : {false, true}) {
    std::vector<float> const elements{1, 2, 3, 4, 5, 6};
    auto const X =
        fortran ? heptad::column_major(elements.data(), 2, 3, 2) : heptad::row_major(elements.data(), 2, 3, 3);
    heptad::tools::write_npy<float>(path, X);
    heptad::tools::npy_file const read(path);
    CHECK(read.header().type == heptad::element_type::f32);
    CHECK(read.header().fortran_order == fortran);
    CHECK(read.header().data_offset % 64 == 0);
    CHECK(std::equal(elements.begin(), elements.end(), read.view<float>().data));
  }
  heptad::tools::write_npy<double>(path, heptad::row_major<double const>(nullptr, 0, 3, 3));
  CHECK(heptad::tools::npy_file(path).header().cols == 3);
  CHECK_THROWS_WITH(heptad::tools::write_npy<float>((path / "below").string(), {}),
                    path.string() + "/below cannot be written: Not a directory");
  fs::remove(path);
}

TEST_CASE("hostile files are errors that say what is wrong") {
  std::string const elements = doubles({1, 2, 3, 4, 5, 6});
  auto const with = [&](std::string const& header) { return failure(npy_bytes(1, header, elements)); };
  CHECK(failure("") == "the file is empty");
  CHECK(failure("\x93NUMP") == "not a .npy file");
  CHECK(failure("PK\x03\x04 not an array at all") == "not a .npy file");
  CHECK(failure(npy_bytes(4, good, elements)) == "format version 4, must be 1, 2 or 3");
  CHECK(failure(npy_bytes(1, good, elements).substr(0, 9)) == "the file ends in its header");
  CHECK(failure(npy_bytes(2, good, elements).substr(0, 40)) == "the file ends in its header");
  CHECK(failure(std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff{", 13)) == "the file ends in its header");
  CHECK(failure(npy_bytes(1, good, elements.substr(1))).find("do not fill the 47 bytes") != std::string::npos);
  CHECK(failure(npy_bytes(1, good, elements + "x")).find("do not fill the 49 bytes") != std::string::npos);
  CHECK(with("") == "the header must have '{' at its byte 54");
  CHECK(with("{}") == "the header must have descr, fortran_order and shape");
  CHECK(with("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)} {") == "text after the header's dictionary");
  CHECK(with("{'descr': '<f8', 'descr': '<f8'") == "unexpected or repeated key 'descr' in the header");
  CHECK(with("{'import os': 1}") == "unexpected or repeated key 'import os' in the header");
  CHECK(with("{'a\x01\x1b[31m': 1}") == "unexpected or repeated key 'a??[31m' in the header");
  CHECK(with("{'descr': '<f8") == "a string in the header does not end");
  CHECK(with("{'descr': '>f8', 'fortran_order': False, 'shape': (2, 3)}") ==
        "elements are '>f8', must be '<f4' or '<f8'");
  CHECK(with("{'descr': '|O', 'fortran_order': False, 'shape': (2, 3)}") ==
        "elements are '|O', must be '<f4' or '<f8'");
  CHECK(with("{'descr': [('x', '<f8')], 'fortran_order': False, 'shape': (2, 3)}") ==
        "elements are records, must be numbers");
  CHECK(with("{'descr': '<f8', 'fortran_order': 0, 'shape': (2, 3)}") == "fortran_order must be True or False");
  CHECK(with("{'descr': '<f8', 'fortran_order': False, 'shape': (6,)}") == "1 dimension, must be 2");
  CHECK(with("{'descr': '<f8', 'fortran_order': False, 'shape': ()}") == "0 dimensions, must be 2");
  CHECK(with("{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2, 3)}") == "3 dimensions, must be 2");
  CHECK(with("{'descr': '<f8', 'fortran_order': False, 'shape': (-2, -3)}") == "the shape must be a tuple of sizes");
  CHECK(with("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3e9)}") ==
        "the header must have ')' at its byte 55");
  CHECK(with("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 99999999999999999999)}") ==
        "the shape must be a tuple of sizes");
  CHECK(with("{'descr': '<f8', 'fortran_order': False, 'shape': (4611686018427387904, 4)}").find("do not fill") !=
        std::string::npos);
  CHECK(failure(npy_bytes(1, good + " ", elements, false)) == "elements are not aligned; save the array again");
}

TEST_CASE("what is not a file is an error") {
  CHECK_THROWS_WITH(heptad::tools::npy_file("/nonexistent/a.npy"), "/nonexistent/a.npy: No such file or directory");
  CHECK_THROWS_WITH(heptad::tools::npy_file("/"), "/: not a file that can be mapped");
  CHECK_THROWS_WITH(heptad::tools::npy_file("/dev/null"), "/dev/null: not a file that can be mapped");
}

TEST_CASE("no header of random bytes crashes the reader") {
  std::mt19937 random(9);
  std::string const start = npy_bytes(1, good, "");
  for (int trial = 0; trial < 20000; ++trial) {
    std::string bytes = start;
    for (int change = 0; change < 1 + trial % 4; ++change) {
      std::size_t const at = 6 + random() % (bytes.size() - 6);
      if (random() % 3 == 0) bytes.erase(at, 1);
      else bytes[at] = static_cast<char>(random());
    }
    try {
      auto const header = heptad::tools::parse_npy_header(bytes, "x");
      CHECK(header.data_offset <= bytes.size());
      CHECK((header.rows >= 0 && header.cols >= 0));
    } catch (heptad::error const&) {
    }
  }
}
