// SPDX-License-Identifier: BSD-3-Clause
// heptad_gpu_host_bench: products of matrices in host memory, beside cuBLASXt and beside sending everything, one call
// of cuBLAS and fetching C. In turn, wall clock, medians. JSON lines on stdout, a table on stderr.
#include <cublasXt.h>
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <heptad/cuda.hpp>

#include "bench/gpu/cases.hpp"
#include "bench/gpu/check.hpp"
#include "bench/gpu/host_array.hpp"
#include "bench/gpu/matrices.hpp"
#include "src/api/cuda/device.hpp"
#include "src/api/median.hpp"

namespace heptad::bench {
namespace {

struct arguments {
  std::string types = "d", sizes = "8192", peers = "copy,xt2048,xt4096";
  std::vector<std::size_t> caps{0};  // MB of device memory; 0: what is free
  int rounds = 3, copy_threads = 1;
  bool pageable = false;
};

struct variant {
  std::string name;
  std::function<void()> run;
  std::vector<double> milliseconds{};
  double difference = 0;
  cuda::host_report report{};
};

template <typename T>
class comparison {
public:
  comparison(arguments const& given, std::int64_t n)
      : given_(given),
        n_(n),
        bytes_(static_cast<std::size_t>(n * n) * sizeof(T)),
        A_(static_cast<std::size_t>(n * n), given.pageable, 1),
        B_(static_cast<std::size_t>(n * n), given.pageable, 2),
        C_(static_cast<std::size_t>(n * n), given.pageable, 3) {
    check(cublasCreate(&handle_));
  }
  ~comparison() { cublasDestroy(handle_); }
  comparison(comparison const&) = delete;
  comparison& operator=(comparison const&) = delete;

  void run() {
    prepare();
    for (variant& v : variants_) {
      std::fill_n(C_.data(), n_ * n_, std::numeric_limits<T>::quiet_NaN());
      v.run();
      compare(v);
    }
    for (int round = 0; round < given_.rounds; ++round)
      for (variant& v : variants_) {
        auto const start = std::chrono::steady_clock::now();
        v.run();
        v.milliseconds.push_back(
            std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
      }
    for (variant const& v : variants_) report(v);
  }

private:
  void prepare() {
    for (auto const& peer : CLI::detail::split(given_.peers, ',')) {
      if (peer == "copy") variants_.push_back({"copy, cuBLAS, copy", [this] { copy_and_multiply(); }});
      else if (peer.starts_with("xt")) {
        int const block = std::stoi(peer.substr(2));
        variants_.push_back({fmt::format("cuBLASXt, blocks of {}", block), [this, block] { multiply_by_xt(block); }});
      }
    }
    for (std::size_t const cap : given_.caps) {
      cuda::host_options wishes;
      if (cap > 0) wishes.max_device_memory = cap << 20;
      wishes.copy_threads = given_.copy_threads;
      std::size_t const me = variants_.size();
      variants_.push_back({cap > 0 ? fmt::format("Heptad within {} MiB", cap) : "Heptad", [this, me, wishes] {
                             auto const square = [this](T* x) { return column_major(x, n_, n_, n_); };
                             auto const constant = [&](T const* x) { return column_major(x, n_, n_, n_); };
                             variants_[me].report = cuda::gemm<T>(T(1), constant(A_.data()), constant(B_.data()), T(0),
                                                                  square(C_.data()), wishes);
                           }});
    }
  }

  void copy_and_multiply() {
    T *a = nullptr, *b = nullptr, *c = nullptr;
    for (T** x : {&a, &b, &c}) check(cudaMalloc(reinterpret_cast<void**>(x), bytes_), "cudaMalloc");
    check(cudaMemcpy(a, A_.data(), bytes_, cudaMemcpyHostToDevice), "cudaMemcpy");
    check(cudaMemcpy(b, B_.data(), bytes_, cudaMemcpyHostToDevice), "cudaMemcpy");
    T const one = 1, zero = 0;
    int const n = static_cast<int>(n_);
    if constexpr (sizeof(T) == 8)
      check(cublasDgemm(handle_, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a, n, b, n, &zero, c, n));
    else check(cublasSgemm(handle_, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a, n, b, n, &zero, c, n));
    check(cudaMemcpy(C_.data(), c, bytes_, cudaMemcpyDeviceToHost), "cudaMemcpy");
    for (T* x : {a, b, c}) cudaFree(x);
  }

  void multiply_by_xt(int block) {
    cublasXtHandle_t xt = nullptr;
    check(cublasXtCreate(&xt));
    int device = 0;
    check(cublasXtDeviceSelect(xt, 1, &device));
    check(cublasXtSetBlockDim(xt, block));
    T const one = 1, zero = 0;
    auto const n = static_cast<std::size_t>(n_);
    if constexpr (sizeof(T) == 8)
      check(
          cublasXtDgemm(xt, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, A_.data(), n, B_.data(), n, &zero, C_.data(), n));
    else
      check(
          cublasXtSgemm(xt, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, A_.data(), n, B_.data(), n, &zero, C_.data(), n));
    cublasXtDestroy(xt);
  }

  /// The first variant's C is the reference.
  void compare(variant& v) {
    auto const count = static_cast<std::size_t>(n_ * n_);
    if (reference_.empty()) reference_.assign(C_.data(), C_.data() + count);
    v.difference = difference_on_host(C_.data(), reference_.data(), count);
  }

  void report(variant const& v) {
    double const ms = median(v.milliseconds), reference = median(variants_.front().milliseconds);
    cuda::host_report const& r = v.report;
    nlohmann::json const line = {{"type", sizeof(T) == 8 ? "f64" : "f32"},
                                 {"n", n_},
                                 {"memory", given_.pageable ? "pageable" : "pinned"},
                                 {"copy_threads", given_.copy_threads},
                                 {"variant", v.name},
                                 {"rounds", given_.rounds},
                                 {"median_ms", ms},
                                 {"min_ms", std::ranges::min(v.milliseconds)},
                                 {"over_first", reference / ms},
                                 {"tflops", 2.0 * double(n_) * double(n_) * double(n_) / ms / 1e9},
                                 {"difference", v.difference},
                                 {"blocks", {r.block_m, r.block_n, r.block_k}},
                                 {"products", r.products},
                                 {"resident", r.resident},
                                 {"bytes_in", r.bytes_in},
                                 {"bytes_out", r.bytes_out},
                                 {"device_bytes", r.device_bytes},
                                 {"in_ms", r.in_seconds * 1e3},
                                 {"product_ms", r.product_seconds * 1e3},
                                 {"out_ms", r.out_seconds * 1e3},
                                 {"overlap", r.overlap},
                                 {"predicted_ms", r.predicted_seconds * 1e3}};
    fmt::print("{}\n", line.dump());
    fmt::print(stderr, "{:4} {:6} {:8} {:24} {:10.2f} ms {:6.3f}x {:6.2f} TFLOP/s {:.1e}",
               sizeof(T) == 8 ? "f64" : "f32", n_, given_.pageable ? "pageable" : "pinned", v.name, ms, reference / ms,
               2.0 * double(n_) * double(n_) * double(n_) / ms / 1e9, v.difference);
    if (r.products > 0)
      fmt::print(stderr, "  {}x{}x{} {} in {:.1f} products {:.1f} out {:.1f} overlap {:.2f} predicted {:.1f}",
                 r.block_m, r.block_n, r.block_k, r.resident ? "resident" : "streamed", r.in_seconds * 1e3,
                 r.product_seconds * 1e3, r.out_seconds * 1e3, r.overlap, r.predicted_seconds * 1e3);
    fmt::print(stderr, "\n");
    std::fflush(stdout);
  }

  arguments const& given_;
  std::int64_t const n_;
  std::size_t const bytes_;
  host_array<T> A_, B_, C_;
  std::vector<T> reference_;
  cublasHandle_t handle_ = nullptr;
  std::vector<variant> variants_;
};

int run(int argc, char** argv) {
  CLI::App app("Products of matrices in host memory by a CUDA device");
  arguments given;
  add_case_options(app, given, "of d and s");
  add_host_options(app, given);
  app.add_option("--peers", given.peers, "of copy, xtN (cuBLASXt with blocks of N); the first is the reference");
  app.add_option("--caps", given.caps, "device memory that Heptad may take, in MiB; 0: what is free")->delimiter(',');
  CLI11_PARSE(app, argc, argv);
  if (!has_device()) return nothing_measured;
  for_each_case(given.sizes, given.types, [&](char type, std::int64_t n) {
    if (type == 'd') comparison<double>(given, n).run();
    else comparison<float>(given, n).run();
  });
  return 0;
}

}  // namespace
}  // namespace heptad::bench

int main(int argc, char** argv) try { return heptad::bench::run(argc, argv); } catch (std::exception const& e) {
  fmt::print(stderr, "heptad_gpu_host_bench: {}\n", e.what());
  return 1;
}
