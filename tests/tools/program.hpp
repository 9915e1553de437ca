// SPDX-License-Identifier: BSD-3-Clause
// Runs the program as its user does, in a folder of its own.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "tools/npy.hpp"

namespace heptad::test {

namespace fs = std::filesystem;

inline std::string read_text(fs::path const& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A folder of its own for one test, removed with it.
struct folder {
  fs::path path = fs::temp_directory_path() / ("heptad-tool-" + std::to_string(getpid()));
  folder() { fs::create_directories(path); }
  ~folder() { fs::remove_all(path); }
  [[nodiscard]] std::string operator/(char const* name) const { return (path / name).string(); }
};

struct outcome {
  int code;
  std::string out, err;
};

/// In that folder; arguments may redirect what the program reads and writes.
inline outcome heptad_run(folder const& where, std::string const& arguments, std::string const& variables = "") {
  std::string const out = where / "stdout", err = where / "stderr";
  std::string const line = "cd '" + where.path.string() + "' && >stdout 2>stderr </dev/null env HEPTAD_PROFILE_DIR='" +
                           where.path.string() + "' " + variables + " '" HEPTAD_PROGRAM "' " + arguments;
  int const state = std::system(line.c_str());
  return {WIFEXITED(state) ? WEXITSTATUS(state) : -1, read_text(out), read_text(err)};
}

inline nlohmann::json json_of(outcome const& result) {
  INFO(result.err);
  REQUIRE(result.code == 0);
  return nlohmann::json::parse(result.out);
}

inline bool is_one_line(std::string const& text) {
  return text.starts_with("heptad: ") && text.find('\n') == text.size() - 1;
}

template <typename T>
std::vector<T> write_random(std::string const& file, std::int64_t rows, std::int64_t cols, bool fortran_order) {
  std::mt19937 random(static_cast<unsigned>(rows + cols));
  std::uniform_real_distribution<T> uniform(-1, 1);
  std::vector<T> elements(static_cast<std::size_t>(rows * cols));
  for (T& x : elements) x = uniform(random);
  tools::write_npy<T>(file, fortran_order ? column_major<T const>(elements.data(), rows, cols, rows)
                                          : row_major<T const>(elements.data(), rows, cols, cols));
  return elements;
}

}  // namespace heptad::test
