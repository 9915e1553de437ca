// SPDX-License-Identifier: BSD-3-Clause
// Runs a fuzz target on its seeds, on the files of the folder --inputs, and on mutations of all of them, the same ones
// for the same --seed: a stand-in for libFuzzer that any compiler links. Where a property does not hold the target ends
// the program, and the input is in fuzz-input.
#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/fuzz/target.hpp"

namespace {

std::string current;

extern "C" void keep_input(int signal) {
  if (std::FILE* const file = std::fopen("fuzz-input", "wb")) {
    std::fwrite(current.data(), 1, current.size(), file);
    std::fclose(file);
  }
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

// What parsers have rules for.
constexpr char const* numbers[] = {"-1",
                                   "0",
                                   "1",
                                   "9223372036854775807",
                                   "9223372036854775808",
                                   "4294967296",
                                   "1e309",
                                   "1e-308",
                                   "nan",
                                   "inf",
                                   "1/0",
                                   "1e99",
                                   "1000000",
                                   "0x10",
                                   "-9223372036854775808"};
constexpr std::string_view punctuation = ",\n '\"{}()[]=:+-/kMG";

using generator = std::mt19937_64;

std::size_t below(generator& random, std::size_t count) { return static_cast<std::size_t>(random() % count); }

/// Most of what is wrong with a file is a number: one of them becomes another one.
void change_number(std::string& text, generator& random) {
  constexpr std::string_view digits = "0123456789";
  std::size_t const from = text.find_first_of(digits, below(random, text.size() + 1));
  if (from == std::string::npos) return;
  std::size_t const end = std::min(text.find_first_not_of(digits, from), text.size());
  std::string const number =
      random() % 2 == 0 ? numbers[below(random, std::size(numbers))] : std::to_string(random() % 100);
  text.replace(from, end - from, number);
}

/// One step: a number, bytes changed, removed, doubled, moved between inputs, or punctuation.
void mutate(std::string& text, std::vector<std::string> const& seeds, generator& random) {
  std::size_t const at = below(random, text.size() + 1), left = text.size() - at;
  switch (below(random, 10)) {
    case 0:
      if (left > 0) text[at] = static_cast<char>(random());
      break;
    case 1:
      if (left > 0) text[at] = static_cast<char>(text[at] ^ (1 << below(random, 8)));
      break;
    case 2:
      text.erase(at, below(random, left + 1) / (1 + below(random, 8)));
      break;
    case 3:
      text.insert(at, text.substr(at, std::min<std::size_t>(left, 1 + below(random, 64))));
      break;
    case 4: {
      std::string const& other = seeds[below(random, seeds.size())];
      text.insert(at, other.substr(below(random, other.size() + 1), below(random, 64)));
      break;
    }
    case 5:
      text.replace(at, std::min<std::size_t>(left, below(random, 4)),
                   std::string(1 + below(random, 2), punctuation[below(random, punctuation.size())]));
      break;
    case 6:
      text.insert(at, 1, static_cast<char>(random()));
      break;
    default:
      change_number(text, random);
  }
}

/// In the order of their names.
std::vector<std::string> contents_of(std::filesystem::path const& folder) {
  std::vector<std::filesystem::path> files;
  for (auto const& entry : std::filesystem::directory_iterator(folder)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<std::string> texts;
  for (auto const& file : files) {
    std::ifstream in(file, std::ios::binary);
    texts.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  return texts;
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t runs = 20000, seed = 1;
  char const* inputs = nullptr;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--runs") == 0) runs = std::strtoull(argv[i + 1], nullptr, 10);
    if (std::strcmp(argv[i], "--seed") == 0) seed = std::strtoull(argv[i + 1], nullptr, 10);
    if (std::strcmp(argv[i], "--inputs") == 0) inputs = argv[i + 1];
  }
  for (int const signal : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS}) std::signal(signal, keep_input);
  std::vector<std::string> seeds = heptad::fuzz::seeds();
  if (inputs != nullptr) {
    for (std::string& text : contents_of(inputs)) seeds.push_back(std::move(text));
  }
  generator random(seed);
  auto const run = [] {
    LLVMFuzzerTestOneInput(reinterpret_cast<std::uint8_t const*>(current.data()), current.size());
  };
  for (std::string const& text : seeds) {
    current = text;
    run();
  }
  for (std::uint64_t i = 0; i < runs; ++i) {
    current = seeds[static_cast<std::size_t>(random() % seeds.size())];
    do mutate(current, seeds, random);
    while (random() % 2 == 0);
    run();
  }
  std::printf("%zu seeds, %llu mutations, %llu of all taken\n", seeds.size(), static_cast<unsigned long long>(runs),
              static_cast<unsigned long long>(heptad::fuzz::taken));
  return heptad::fuzz::taken > seeds.size() ? 0 : 1;  // one that refuses all tests little
}
