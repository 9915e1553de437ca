// SPDX-License-Identifier: BSD-3-Clause
// Speed of one product on one core: every kernel set that this processor can run, over sizes, numbers of operands and
// destinations, and both variants. GFLOP/s counts 2mnk; the additions of the sums and updates are not counted, so the
// fall from 1 operand and destination to 4 is what they cost.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <vector>

#include "codelets/cpu/product.hpp"
#include "src/matrix/orientation.hpp"

namespace {

using heptad::cpu::kernel_set;
using heptad::cpu::variant;

struct release {
  void operator()(std::byte* p) const { std::free(p); }
};
using memory = std::unique_ptr<std::byte, release>;

memory allocate(std::size_t bytes) {
  auto* const p = static_cast<std::byte*>(std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096));
  if (p == nullptr) throw std::bad_alloc();
  return memory(p);
}

struct setting {
  std::int64_t m, n, k;
  int operands, destinations;  // as many of A as of B
  variant how;
};

/// `count` column-major blocks of rows × cols, filled with 1/8 so that sums stay exact and finite.
template <typename T>
struct blocks {
  blocks(int count, std::int64_t rows, std::int64_t cols)
      : ld(heptad::padded_leading_dimension(rows, sizeof(T))),
        elements(ld * cols),
        storage(static_cast<std::size_t>(elements * count), T(0.125)) {}
  T* operator[](int i) { return storage.data() + i * elements; }
  std::int64_t ld, elements;
  std::vector<T> storage;
};

template <typename T>
void run(benchmark::State& state, kernel_set<T> const& kernels, setting const& s) {
  blocks<T> A(s.operands, s.m, s.k), B(s.operands, s.k, s.n), C(s.destinations, s.m, s.n);
  std::vector<heptad::cpu::term<T>> a, b;
  std::vector<heptad::cpu::destination<T>> c;
  for (int i = 0; i < s.operands; ++i) {
    T const sign = i % 2 ? T(-1) : T(1);
    a.push_back({A[i], sign});
    b.push_back({B[i], sign});
  }
  for (int i = 0; i < s.destinations; ++i) c.push_back({C[i], i % 2 ? T(-1) : T(1), T(1)});
  memory const scratch = allocate(product_scratch(kernels, s.m, s.n, s.k, s.how));
  heptad::cpu::product_call<T> const call{s.m, s.n, s.k, a, 1, A.ld, b, 1, B.ld, c, 1, C.ld};
  for (auto _ : state) {
    product(kernels, call, s.how, scratch.get());
    benchmark::ClobberMemory();
  }
  state.counters["GFLOP/s"] =
      benchmark::Counter(2e-9 * static_cast<double>(s.m) * static_cast<double>(s.n) * static_cast<double>(s.k),
                         benchmark::Counter::kIsIterationInvariantRate);
}

template <typename T>
void register_all() {
  std::string const type = std::is_same_v<T, double> ? "f64" : "f32";
  for (kernel_set<T> const* kernels : heptad::cpu::kernel_sets<T>()) {
    if (!kernels->available()) continue;
    auto const add = [&](setting const& s) {
      std::string const name = "product/" + type + "/" + kernels->name + (s.how == variant::ab ? "/ab/" : "/abc/") +
                               std::to_string(s.m) + "x" + std::to_string(s.n) + "x" + std::to_string(s.k) +
                               "/operands:" + std::to_string(s.operands) +
                               "/destinations:" + std::to_string(s.destinations);
      benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
        run(state, *kernels, s);
      })->Unit(benchmark::kMillisecond);
    };
    for (variant how : {variant::abc, variant::ab}) {
      for (std::int64_t n : {128, 256, 512, 1024})
        for (int count : {1, 2, 4}) add({n, n, n, count, count, how});
      add({501, 499, 503, 1, 1, how});    // fringes of every kernel
      add({2048, 2048, 256, 2, 2, how});  // the shape of a rank-k update
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  register_all<double>();
  register_all<float>();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
