// SPDX-License-Identifier: BSD-3-Clause
// What a small product costs more through the drop-in, which passes it on. Both sides are called in turns, on the same
// operands, in one process: between processes the pages that a matrix got make more of a difference.
#include <benchmark/benchmark.h>
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "src/api/median.hpp"

namespace {

using dgemm = void (*)(char const*, char const*, int const*, int const*, int const*, double const*, double const*,
                       int const*, double const*, int const*, double const*, double*, int const*, std::size_t,
                       std::size_t);

dgemm dgemm_of(char const* file) {
  void* const library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  void* const found = library == nullptr ? nullptr : dlsym(library, "dgemm_");
  if (found != nullptr) return reinterpret_cast<dgemm>(found);
  std::fprintf(stderr, "no dgemm_ in %s\n", file);
  std::exit(1);
}

struct aligned_delete {
  void operator()(double* data) const { operator delete[](data, std::align_val_t{4096}); }
};
using matrix = std::unique_ptr<double[], aligned_delete>;

matrix filled(int n) {
  matrix made(new (std::align_val_t{4096}) double[static_cast<std::size_t>(n) * n]);
  std::fill_n(made.get(), n * n, 1.0 / 3);
  return made;
}

/// Rounds of some calls of one and as many of the other; each counter is the median of a call in ns.
void passed_on(benchmark::State& state) {
  using clock = std::chrono::steady_clock;
  static dgemm const backend = dgemm_of("libblas.so.3"), drop_in = dgemm_of(HEPTAD_BLAS_LIBRARY);
  int const n = static_cast<int>(state.range(0)), calls = std::max(1, (1 << 20) / (n * n * n));
  matrix const A = filled(n), B = filled(n), C = filled(n);
  double const one = 1, zero = 0;
  auto const seconds_of = [&](dgemm routine) {
    auto const begin = clock::now();
    for (int i = 0; i < calls; ++i)
      routine("N", "N", &n, &n, &n, &one, A.get(), &n, B.get(), &n, &zero, C.get(), &n, 1, 1);
    return std::chrono::duration<double>(clock::now() - begin).count() / calls;
  };
  std::vector<double> direct, through;
  for (auto _ : state) {
    // Whoever comes second finds the operands as the first one left them: they take turns at that too.
    bool const first = direct.size() % 2 == 0;
    double const a = seconds_of(first ? backend : drop_in), b = seconds_of(first ? drop_in : backend);
    direct.push_back(first ? a : b);
    through.push_back(first ? b : a);
  }
  double const plain = heptad::median(direct), ours = heptad::median(through);
  state.counters["plain_ns"] = 1e9 * plain;
  state.counters["heptad_ns"] = 1e9 * ours;
  state.counters["more_ns"] = 1e9 * (ours - plain);
  state.counters["ratio"] = plain / ours;
}
BENCHMARK(passed_on)->Arg(1)->Arg(4)->Arg(16)->Arg(64)->Arg(128)->Arg(256)->Arg(512)->MinTime(2)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
