// SPDX-License-Identifier: BSD-3-Clause
// heptad_starpu_bench: a product of StarPU's handles beside one of cuBLAS, with all operands on the device before and
// after, and from main memory and back. In turn, wall clock, medians. JSON lines on stdout.
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <starpu.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <heptad/starpu.hpp>

#include "bench/gpu/cases.hpp"
#include "bench/gpu/check.hpp"
#include "bench/gpu/host_array.hpp"
#include "bench/gpu/matrices.hpp"
#include "src/api/median.hpp"

#undef main  // starpu.h renames it

namespace heptad::bench {
namespace {

struct arguments {
  std::string types = "d", sizes = "8192";
  int rounds = 5;
};

template <typename Work>
double milliseconds(Work const& work) {
  auto const start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

cublasStatus_t multiply(cublasHandle_t h, int n, double const* A, double const* B, double* C) {
  double const one = 1, zero = 0;
  return cublasDgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, A, n, B, n, &zero, C, n);
}
cublasStatus_t multiply(cublasHandle_t h, int n, float const* A, float const* B, float* C) {
  float const one = 1, zero = 0;
  return cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, A, n, B, n, &zero, C, n);
}

template <typename T>
class comparison {
public:
  comparison(std::int64_t n, int rounds)
      : n_(n),
        rounds_(rounds),
        A_(count(), false, 1),
        B_(count(), false, 2),
        C_(count(), false, 3),
        D_(count(), false, 4) {
    for (T*& x : on_device_) check(cudaMalloc(reinterpret_cast<void**>(&x), bytes()), "cudaMalloc");
    check(cublasCreate(&handle_));
    copy(on_device_[0], A_.data());
    copy(on_device_[1], B_.data());
  }
  ~comparison() {
    cublasDestroy(handle_);
    for (T* x : on_device_) cudaFree(x);
  }
  comparison(comparison const&) = delete;
  comparison& operator=(comparison const&) = delete;

  void run() {
    resident();
    from_memory();
  }

private:
  [[nodiscard]] std::size_t count() const { return static_cast<std::size_t>(n_ * n_); }
  [[nodiscard]] std::size_t bytes() const { return count() * sizeof(T); }
  static void copy_bytes(void* to, void const* from, std::size_t bytes) {
    check(cudaMemcpy(to, from, bytes, cudaMemcpyDefault), "cudaMemcpy");
  }
  void copy(T* to, T const* from) const { copy_bytes(to, from, bytes()); }

  void cublas() {
    check(multiply(handle_, static_cast<int>(n_), on_device_[0], on_device_[1], on_device_[2]));
    check(cudaDeviceSynchronize(), "cuBLAS");
  }

  [[nodiscard]] starpu_data_handle_t share(host_array<T> const& x) const {
    starpu_data_handle_t h = nullptr;
    auto const size = static_cast<std::uint32_t>(n_);
    starpu_matrix_data_register(&h, STARPU_MAIN_RAM, reinterpret_cast<std::uintptr_t>(x.data()), size, size, size,
                                sizeof(T));
    return h;
  }

  /// Repeated products of the same handles, which StarPU keeps where they are used.
  void resident() {
    starpu_data_handle_t const A = share(A_), B = share(B_), C = share(C_);
    std::vector<double> ours, theirs;
    for (int round = -1; round < rounds_; ++round) {  // the first warms up
      double const mine = milliseconds([&] {
        how_ = starpu::submit_gemm(T(1), A, B, T(0), C).reason;
        starpu_task_wait_for_all();
      });
      double const its = milliseconds([&] { cublas(); });
      if (round >= 0) ours.push_back(mine), theirs.push_back(its);
    }
    for (auto const h : {A, B, C}) starpu_data_unregister(h);
    report("device", ours, theirs);
  }

  void from_memory() {
    std::vector<double> ours, theirs;
    for (int round = -1; round < rounds_; ++round) {
      double const mine = milliseconds([&] {
        starpu_data_handle_t const A = share(A_), B = share(B_), C = share(C_);
        how_ = starpu::submit_gemm(T(1), A, B, T(0), C).reason;
        for (auto const h : {C, A, B}) starpu_data_unregister(h);  // waits
      });
      double const its = milliseconds([&] {
        copy(on_device_[0], A_.data());
        copy(on_device_[1], B_.data());
        cublas();
        copy(D_.data(), on_device_[2]);
      });
      if (round >= 0) ours.push_back(mine), theirs.push_back(its);
    }
    report("host, pinned", ours, theirs);
  }

  void report(std::string const& where, std::vector<double> const& ours, std::vector<double> const& theirs) {
    copy(D_.data(), on_device_[2]);
    nlohmann::json const line = {{"type", sizeof(T) == 8 ? "f64" : "f32"},
                                 {"n", n_},
                                 {"operands", where},
                                 {"heptad_ms", ours},
                                 {"cublas_ms", theirs},
                                 {"over_cublas", median(theirs) / median(ours)},
                                 {"tflops", 2e-9 * double(n_) * double(n_) * double(n_) / median(ours)},
                                 {"difference", difference_on_host(C_.data(), D_.data(), count())},
                                 {"cuda_workers", starpu_cuda_worker_get_count()},
                                 {"cpu_workers", starpu_cpu_worker_get_count()},
                                 {"plan", how_}};
    fmt::print("{}\n", line.dump());
    std::fflush(stdout);
  }

  std::int64_t n_;
  int rounds_;
  host_array<T> A_, B_, C_, D_;
  T* on_device_[3] = {};
  cublasHandle_t handle_ = nullptr;
  std::string how_;
};

}  // namespace
}  // namespace heptad::bench

int main(int argc, char** argv) {
  using namespace heptad::bench;
  arguments given;
  CLI::App app("Products of StarPU's handles on a CUDA device beside cuBLAS.", "heptad_starpu_bench");
  app.add_option("--types", given.types, "letters d and s")->capture_default_str();
  app.add_option("--sizes", given.sizes, "n, with commas")->capture_default_str();
  app.add_option("--rounds", given.rounds, "calls that are timed")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  if (!has_device()) return nothing_measured;
  if (starpu_init(nullptr) != 0 || starpu_cuda_worker_get_count() == 0) {
    fmt::print(stderr, "StarPU has no CUDA worker: nothing measured\n");
    return nothing_measured;
  }
  for_each_case(given.sizes, given.types, [&](char type, std::int64_t n) {
    if (type == 'd') comparison<double>(n, given.rounds).run();
    else comparison<float>(n, given.rounds).run();
  });
  starpu_shutdown();
  return 0;
}
