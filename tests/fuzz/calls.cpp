// SPDX-License-Identifier: BSD-3-Clause
// Random calls of the C interface and of the drop-in beside the reference BLAS: sizes, leading dimensions, flags,
// scalars, special values, shared operands and broken rules. Every call is a function of --seed, --largest and its
// number, whichever of the --threads makes it; what levels run is up to the environment (HEPTAD_FORCE_LEVELS,
// HEPTAD_BLAS_MIN_SIZE, ...). A failure prints the command that repeats it, with all of these.
#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "tests/fuzz/call_case.hpp"

namespace {

// The handler of errors of the BLAS that a program may define, as Netlib's testers do.
thread_local int reported = 0;

struct arguments {
  std::uint64_t calls = 100000, seed = 1, first = 0, threads = 1;
  double largest = 2e6;  // multiplications of one call
  char const* reference = "/usr/lib/x86_64-linux-gnu/blas/libblas.so.3";
};

arguments parse(int argc, char** argv) {
  arguments given;
  for (int i = 1; i + 1 < argc; i += 2) {
    std::string const name = argv[i];
    if (name == "--calls") given.calls = std::strtoull(argv[i + 1], nullptr, 10);
    else if (name == "--seed") given.seed = std::strtoull(argv[i + 1], nullptr, 10);
    else if (name == "--first") given.first = std::strtoull(argv[i + 1], nullptr, 10);
    else if (name == "--threads") given.threads = std::strtoull(argv[i + 1], nullptr, 10);
    else if (name == "--largest") given.largest = std::strtod(argv[i + 1], nullptr);
    else if (name == "--reference") given.reference = argv[i + 1];
    else {
      std::fprintf(stderr,
                   "fuzz_calls [--calls N] [--seed S] [--first N] [--threads N] "
                   "[--largest MULTIPLICATIONS] [--reference FILE]\n");
      std::exit(2);
    }
  }
  return given;
}

/// The command that makes this call alone.
std::string command_of(char const* program, arguments const& given, std::uint64_t call) {
  std::string command;
  for (char** variable = environ; *variable != nullptr; ++variable)
    if (std::string_view(*variable).starts_with("HEPTAD_")) command += fmt::format("{} ", *variable);
  return command + fmt::format("{} --seed {} --first {} --calls 1 --largest {} --reference {}", program, given.seed,
                               call, given.largest, given.reference);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void xerbla_(char const*, int const* info, std::size_t) {
  reported = *info;
}

int heptad::fuzz::take_reported() { return std::exchange(reported, 0); }

int main(int argc, char** argv) {
  arguments const given = parse(argc, argv);
  void* const reference = dlopen(given.reference, RTLD_NOW | RTLD_LOCAL);
  if (reference == nullptr) {
    std::fprintf(stderr, "no reference BLAS: %s\n", dlerror());
    return 77;  // skipped
  }
  heptad::fuzz::harness tests(reference, given.largest);
  std::atomic<std::uint64_t> next{given.first};
  std::atomic<bool> failed{false};
  auto const work = [&] {
    for (std::uint64_t call; !failed && (call = next++) < given.first + given.calls;) {
      std::string const failure = tests.run(given.seed, call);
      if (failure.empty()) continue;
      fmt::print("seed {}, call {}: {}\nagain: {}\n", given.seed, call, failure, command_of(argv[0], given, call));
      failed = true;
    }
  };
  std::vector<std::thread> others;
  for (std::uint64_t i = 1; i < given.threads; ++i) others.emplace_back(work);
  work();
  for (std::thread& other : others) other.join();
  if (failed) return 1;
  fmt::print("{} calls from {} with seed {}: {}\n", given.calls, given.first, given.seed, tests.summary());
  return 0;
}
