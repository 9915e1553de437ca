// SPDX-License-Identifier: BSD-3-Clause
// Only in builds with libFuzzer, whose main program it is: puts the target's seeds into the first folder on the command
// line, where libFuzzer keeps the inputs that it begins with and those that it finds.
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/fuzz/target.hpp"

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  for (int i = 1; i < *argc; ++i) {
    std::filesystem::path const folder = (*argv)[i];
    if (!std::filesystem::is_directory(folder)) continue;
    int number = 0;
    for (std::string const& text : heptad::fuzz::seeds())
      std::ofstream(folder / ("seed-" + std::to_string(number++)), std::ios::binary) << text;
    break;
  }
  return 0;
}
