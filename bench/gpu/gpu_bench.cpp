// SPDX-License-Identifier: BSD-3-Clause
// heptad_gpu_bench: products on a device beside cuBLAS, in the same arithmetic, on random data, in turn. A round times
// every variant once with events, in another order each time, as who comes before decides the clock; medians of the
// rounds are compared. JSON lines on stdout, a table on stderr.
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include <heptad/cuda.hpp>

#include "bench/gpu/cases.hpp"
#include "bench/gpu/check.hpp"
#include "bench/gpu/matrices.hpp"
#include "codelets/cuda/product.hpp"
#include "src/api/cuda/device.hpp"
#include "src/api/median.hpp"
#include "src/plan/device_planner.hpp"

namespace heptad::bench {
namespace {

struct arguments {
  std::string types = "d", sizes = "1024,2048,4096,8192";
  std::vector<std::string> variants{"auto"};
  int rounds = 7, warm_up = 2;
  double beta = 0, seconds = 0.003;
  std::int64_t max_workspace = -1;
};

class device_buffer {
public:
  explicit device_buffer(std::size_t bytes) {
    check(cudaMalloc(&data_, std::max<std::size_t>(bytes, 256)), "cudaMalloc");
  }
  ~device_buffer() { cudaFree(data_); }
  device_buffer(device_buffer const&) = delete;
  device_buffer& operator=(device_buffer const&) = delete;
  template <typename T>
  [[nodiscard]] T* as() const {
    return static_cast<T*>(data_);
  }

private:
  void* data_ = nullptr;
};

/// "1/2b": one serial level, then two composed ones with batched products; "1f": one fused level (of Strassen).
std::vector<cuda::stage> parse_stages(std::string const& text) {
  std::vector<cuda::stage> stages;
  std::string const algorithm = text.starts_with("strassen:") ? "strassen" : "winograd";
  std::string rest = text.substr(text.find(':') == std::string::npos ? 0 : text.find(':') + 1);
  for (auto const& part : CLI::detail::split(rest, '/')) {
    bool const batched = part.ends_with('b'), fused = part.ends_with('f');
    stages.push_back(cuda::make_stage(fused ? "strassen" : algorithm, part[0] - '0', batched, fused));
  }
  return stages;
}

/// "1f@atomic", "1f@streams"
cuda::accumulation parse_accumulation(std::string const& text) {
  return text == "atomic"    ? cuda::accumulation::atomic
         : text == "streams" ? cuda::accumulation::streams
                             : cuda::accumulation::ordered;
}

cuda::arithmetic arithmetic_of(char type) {
  return type == 't' ? cuda::arithmetic::tf32 : type == 'b' ? cuda::arithmetic::bf16 : cuda::arithmetic::exact;
}
char const* name_of(char type) { return type == 'd' ? "f64" : type == 's' ? "f32" : type == 't' ? "tf32" : "bf16"; }

struct variant {
  std::string name;
  std::function<void()> run;
  cuda::plan how;
  std::vector<float> milliseconds{};
  double error = 0;
};

template <typename T>
class comparison {
public:
  comparison(arguments const& given, char type, std::int64_t n)
      : given_(given),
        type_(type),
        n_(n),
        bytes_(static_cast<std::size_t>(n) * static_cast<std::size_t>(n) * sizeof(T)),
        A_(bytes_),
        B_(bytes_),
        C_(bytes_),
        R_(bytes_) {
    check(cudaStreamCreate(&stream_), "cudaStreamCreate");
    check(cublasCreate(&handle_));
    check(cublasSetStream(handle_, stream_));
    check(cudaEventCreate(&begin_), "cudaEventCreate");
    check(cudaEventCreate(&end_), "cudaEventCreate");
    std::size_t const count = bytes_ / sizeof(T);
    fill_random(A_.as<T>(), count, 1);
    fill_random(B_.as<T>(), count, 2);
    check(cudaDeviceSynchronize(), "fill");
  }
  ~comparison() {
    cublasDestroy(handle_);
    cudaStreamDestroy(stream_);
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }
  comparison(comparison const&) = delete;
  comparison& operator=(comparison const&) = delete;

  void run() {
    prepare();
    std::size_t const count = bytes_ / sizeof(T);
    for (variant& v : variants_) {  // poisoned, so that what is not written shows
      check(cudaMemset(C_.as<T>(), given_.beta == 0 ? 0xff : 0, bytes_), "cudaMemset");
      v.run();
      check(cudaStreamSynchronize(stream_), v.name.c_str());
      if (&v == &variants_.front()) check(cudaMemcpy(R_.as<T>(), C_.as<T>(), bytes_, cudaMemcpyDeviceToDevice), "copy");
      v.error = relative_difference(C_.as<T>(), R_.as<T>(), count);
    }
    std::vector<variant*> order;
    for (variant& v : variants_) order.push_back(&v);
    std::mt19937 random(1);
    for (int round = -given_.warm_up; round < given_.rounds; ++round) {
      std::ranges::shuffle(order, random);
      for (variant* const v : order) {
        float const milliseconds = time(*v);
        if (round >= 0) v->milliseconds.push_back(milliseconds);
      }
    }
    report();
  }

private:
  /// Of one call, the mean of calls in a row that fill the given seconds: a call alone on an idle stream would show
  /// what the host does between the first event and the launch. A third of them, before, are not counted: they bring
  /// the device to the clock and the caches to the state that the variant itself makes.
  float time(variant const& v) {
    float const once = time_calls(v, 1);
    double const calls = given_.seconds * 1e3 / static_cast<double>(once);
    if (calls < 2) return once;
    if (calls > 3) time_calls(v, static_cast<int>(calls / 3));
    return time_calls(v, static_cast<int>(calls));
  }
  float time_calls(variant const& v, int calls) {
    check(cudaEventRecord(begin_, stream_), "event");
    for (int call = 0; call < calls; ++call) v.run();
    check(cudaEventRecord(end_, stream_), "event");
    check(cudaEventSynchronize(end_), v.name.c_str());
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin_, end_), "event");
    return milliseconds / static_cast<float>(calls);
  }

  void prepare() {
    problem shape;
    shape.m = shape.n = shape.k = n_;
    shape.beta_zero = given_.beta == 0;
    cuda::options wishes;
    wishes.arithmetic = arithmetic_of(type_);
    if (given_.max_workspace >= 0) wishes.max_workspace = static_cast<std::size_t>(given_.max_workspace);
    auto const profile = cuda::profile_of(cuda::current_device());
    element_type const element = sizeof(T) == 8 ? element_type::f64 : element_type::f32;
    cuda::plan const classical = [&] {
      auto none = wishes;
      none.max_levels = 0;
      return cuda::choose_device_plan(element, shape, cuda::free_memory(), profile, none);
    }();
    T const beta = static_cast<T>(given_.beta);
    variants_.push_back({"cublas",
                         [this, beta] {
                           cuda::handle_modes const modes(handle_);
                           check(cuda::product<T>(handle_, arithmetic_of(type_),
                                                  {n_,
                                                   n_,
                                                   n_,
                                                   {A_.as<T>(), n_, orientation::column_major, 0},
                                                   {B_.as<T>(), n_, orientation::column_major, 0},
                                                   C_.as<T>(),
                                                   n_,
                                                   0,
                                                   T(1),
                                                   beta,
                                                   1}));
                         },
                         classical});
    std::size_t workspace = 0;
    for (std::string const& name : given_.variants) {
      cuda::plan how =
          cuda::choose_device_plan(element, shape, cuda::free_memory() * 2 - (std::size_t{2} << 30), profile, wishes);
      if (name != "auto") {
        how = classical;
        auto const way = name.find('@');
        how.stages = parse_stages(name.substr(0, way));
        if (way != std::string::npos) how.accumulation = parse_accumulation(name.substr(way + 1));
        cuda::complete_device_plan(how, profile);
        if (how.workspace + (std::size_t{1} << 30) > cuda::free_memory()) continue;
      }
      executables_.push_back(std::make_unique<cuda::executable>(how));
      workspace = std::max(workspace, executables_.back()->workspace_bytes());
      auto const column = [this](T* data) { return column_major(data, n_, n_, n_); };
      variants_.push_back({name,
                           [this, what = executables_.back().get(), column, beta] {
                             cuda::gemm<T>(stream_, handle_, *what, T(1), column(A_.as<T>()), column(B_.as<T>()), beta,
                                           column(C_.as<T>()), {workspace_->as<void>(), what->workspace_bytes()});
                           },
                           executables_.back()->how()});
    }
    workspace_ = std::make_unique<device_buffer>(workspace);
  }

  void report() {
    double const flops = 2.0 * double(n_) * double(n_) * double(n_);
    double const reference = median(variants_.front().milliseconds);
    for (variant const& v : variants_) {
      double const ms = median(v.milliseconds);
      std::string stages;
      for (auto const& s : v.how.stages)
        stages += fmt::format("{}{}x{}{}", stages.empty() ? "" : " ", s.name, s.levels,
                              s.batched ? "b"
                              : s.fused ? "f"
                                        : "");
      if (!v.how.stages.empty() && v.how.stages.back().fused)
        stages += std::array{"", " atomic", " streams"}[static_cast<std::size_t>(v.how.accumulation)];
      auto const [least, most] = std::ranges::minmax(v.milliseconds);
      nlohmann::json const line = {{"type", name_of(type_)},
                                   {"n", n_},
                                   {"beta", given_.beta},
                                   {"max_workspace", given_.max_workspace},
                                   {"seconds", given_.seconds},
                                   {"variant", v.name},
                                   {"stages", stages},
                                   {"tile", v.how.tile},
                                   {"workspace", v.how.workspace},
                                   {"rounds", given_.rounds},
                                   {"median_ms", ms},
                                   {"min_ms", least},
                                   {"max_ms", most},
                                   {"predicted_ms", v.how.seconds * 1e3},
                                   {"tflops", flops / ms / 1e9},
                                   {"over_cublas", reference / ms},
                                   {"difference", v.error}};
      fmt::print("{}\n", line.dump());
      fmt::print(
          stderr,
          "{:5} {:6} {:12} {:36} {:10.4f} ms [{:.4f} {:.4f}] (predicted {:9.4f}) {:7.2f} TFLOP/s {:6.3f}x  {:.1e}\n",
          name_of(type_), n_, v.name, stages, ms, least, most, v.how.seconds * 1e3, flops / ms / 1e9, reference / ms,
          v.error);
    }
    std::fflush(stdout);
  }

  arguments const& given_;
  char const type_;
  std::int64_t const n_;
  std::size_t const bytes_;
  device_buffer A_, B_, C_, R_;
  std::unique_ptr<device_buffer> workspace_;
  cudaStream_t stream_ = nullptr;
  cublasHandle_t handle_ = nullptr;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
  std::vector<std::unique_ptr<cuda::executable>> executables_;
  std::vector<variant> variants_;
};

int run(int argc, char** argv) {
  CLI::App app("Products on a CUDA device beside cuBLAS");
  arguments given;
  add_case_options(app, given, "of d, s, t (TF32), b (BF16)");
  app.add_option("--variants", given.variants,
                 "auto, or stages such as 2b, 1/2b, 1/1, strassen:2b, 1f, 1/1f, 1f@atomic, 1f@streams")
      ->capture_default_str();
  app.add_option("--seconds", given.seconds,
                 "of calls in a row that a round times, whose mean counts, at least one; 0: one")
      ->capture_default_str();
  app.add_option("--beta", given.beta)->capture_default_str();
  app.add_option("--max-workspace", given.max_workspace, "bytes, for auto; negative: no limit but memory")
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  if (!has_device()) return nothing_measured;
  for_each_case(given.sizes, given.types, [&](char type, std::int64_t n) {
    if (type == 'd') comparison<double>(given, type, n).run();
    else comparison<float>(given, type, n).run();
  });
  return 0;
}

}  // namespace
}  // namespace heptad::bench

int main(int argc, char** argv) try { return heptad::bench::run(argc, argv); } catch (std::exception const& e) {
  fmt::print(stderr, "heptad_gpu_bench: {}\n", e.what());
  return 1;
}
