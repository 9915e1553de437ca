// SPDX-License-Identifier: BSD-3-Clause
// heptad_hybrid_bench: products of matrices in host memory by the CPU alone, one device alone, and both together, each
// device as one logical device or several. In turn, wall clock, medians. JSON lines on stdout, a table on stderr.
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <heptad/cuda.hpp>
#include <heptad/hybrid.hpp>

#include "bench/gpu/cases.hpp"
#include "bench/gpu/check.hpp"
#include "bench/gpu/host_array.hpp"
#include "bench/gpu/matrices.hpp"
#include "src/api/median.hpp"

namespace heptad::bench {
namespace {

struct arguments {
  std::string types = "d", sizes = "8192", variants = "device,h1,h2,h3,cpu";
  int rounds = 3, warm_up = 3, copy_threads = 1, threads = 0;
  double longest = 20;
  bool pageable = false;
};

struct variant {
  std::string name;
  std::function<hybrid::report()> run;
  std::vector<double> milliseconds{};
  double difference = 0;
  hybrid::report report{};
};

template <typename T>
class comparison {
public:
  comparison(arguments const& given, context& workers, std::int64_t n)
      : given_(given),
        workers_(workers),
        n_(n),
        A_(static_cast<std::size_t>(n * n), given.pageable, 1),
        B_(static_cast<std::size_t>(n * n), given.pageable, 2),
        C_(static_cast<std::size_t>(n * n), given.pageable, 3) {}

  void run() {
    for (auto const& name : CLI::detail::split(given_.variants, ',')) variants_.push_back({name, what(name)});
    for (variant& v : variants_) {
      std::fill_n(C_.data(), n_ * n_, std::numeric_limits<T>::quiet_NaN());
      time(v);
      compare(v);
      // What takes long is timed once, and needs no second call to be warm.
      for (int call = 1; call < given_.warm_up && v.milliseconds.back() < given_.longest * 1e3; ++call) time(v);
      if (v.milliseconds.back() < given_.longest * 1e3) v.milliseconds.clear();
    }
    for (int round = 0; round < given_.rounds; ++round)
      for (variant& v : variants_)
        if (v.milliseconds.size() == static_cast<std::size_t>(round)) time(v);
    for (variant const& v : variants_) report(v);
  }

private:
  /// "cpu"; "device": heptad::cuda::gemm on the current one; "hN": CPU and devices, each as N; "dN": without the CPU.
  std::function<hybrid::report()> what(std::string const& name) {
    auto const square = [this](auto* x) { return column_major(x, n_, n_, n_); };
    T const *a = A_.data(), *b = B_.data();
    if (name == "device")
      return [this, square, a, b] {
        cuda::host_options wishes;
        wishes.copy_threads = given_.copy_threads;
        auto const r = cuda::gemm<T>(T(1), square(a), square(b), T(0), square(C_.data()), wishes);
        hybrid::report told;
        told.predicted_seconds = r.predicted_seconds;
        return told;
      };
    hybrid::options wishes;
    wishes.copy_threads = given_.copy_threads;
    if (name == "cpu") wishes.devices = std::vector<int>{};
    else wishes.logical_devices = std::stoi(name.substr(1));
    if (name.starts_with('d')) wishes.cpu_share = 0.0;
    return [this, square, a, b, wishes] {
      return hybrid::gemm<T>(workers_, T(1), square(a), square(b), T(0), square(C_.data()), wishes);
    };
  }

  void time(variant& v) {
    auto const start = std::chrono::steady_clock::now();
    v.report = v.run();
    v.milliseconds.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }

  /// The first variant's C is the reference.
  void compare(variant& v) {
    auto const count = static_cast<std::size_t>(n_ * n_);
    if (reference_.empty()) reference_.assign(C_.data(), C_.data() + count);
    v.difference = difference_on_host(C_.data(), reference_.data(), count);
  }

  void report(variant const& v) {
    double const ms = median(v.milliseconds), reference = median(variants_.front().milliseconds);
    double const tflops = 2.0 * double(n_) * double(n_) * double(n_) / ms / 1e9;
    int devices = 0;
    cudaGetDeviceCount(&devices);
    nlohmann::json line = {{"type", sizeof(T) == 8 ? "f64" : "f32"},
                           {"n", n_},
                           {"memory", given_.pageable ? "pageable" : "pinned"},
                           {"copy_threads", given_.copy_threads},
                           {"workers", workers_.threads()},
                           {"devices", devices},
                           {"variant", v.name},
                           {"rounds", v.milliseconds.size()},
                           {"median_ms", ms},
                           {"min_ms", std::ranges::min(v.milliseconds)},
                           {"over_first", reference / ms},
                           {"tflops", tflops},
                           {"difference", v.difference},
                           {"predicted_ms", v.report.predicted_seconds * 1e3},
                           {"planning_ms", v.report.planning_seconds * 1e3},
                           {"parts", nlohmann::json::array()}};
    double cpu = v.name == "cpu" ? 1 : 0;
    for (hybrid::part const& p : v.report.parts) {
      line["parts"].push_back({{"who", p.who},
                               {"share", p.share},
                               {"rows", p.rows},
                               {"cols", p.cols},
                               {"begin_ms", p.begin_seconds * 1e3},
                               {"ms", p.seconds * 1e3},
                               {"predicted_ms", p.predicted_seconds * 1e3},
                               {"how", p.how},
                               {"overlap", p.overlap},
                               {"failure", p.failure}});
      if (p.device < 0) cpu = p.share;
    }
    line["cpu_share"] = cpu;
    fmt::print("{}\n", line.dump());
    fmt::print(stderr, "{:4} {:6} {:8} {:8} {:10.2f} ms {:6.3f}x {:7.2f} TFLOP/s {:.1e}  cpu {:.3f} predicted {:.1f}\n",
               sizeof(T) == 8 ? "f64" : "f32", n_, given_.pageable ? "pageable" : "pinned", v.name, ms, reference / ms,
               tflops, v.difference, cpu, v.report.predicted_seconds * 1e3);
    fmt::print(stderr, "{}", hybrid::explain(v.report));
    std::fflush(stdout);
  }

  arguments const& given_;
  context& workers_;
  std::int64_t const n_;
  host_array<T> A_, B_, C_;
  std::vector<T> reference_;
  std::vector<variant> variants_;
};

int run(int argc, char** argv) {
  CLI::App app("Products of matrices in host memory shared by the CPU and CUDA devices");
  arguments given;
  add_case_options(app, given, "of d and s");
  add_host_options(app, given);
  app.add_option("--variants", given.variants,
                 "of cpu, device (one alone), hN (CPU and devices, each as N logical ones), dN (those devices alone); "
                 "the first is the reference")
      ->capture_default_str();
  app.add_option("--warm-up", given.warm_up, "calls before")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--longest", given.longest, "seconds; what takes longer is called once")->capture_default_str();
  app.add_option("--threads", given.threads, "workers of the CPU; 0: all")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  if (!has_device()) return nothing_measured;
  context workers(given.threads);
  for_each_case(given.sizes, given.types, [&](char type, std::int64_t n) {
    if (type == 'd') comparison<double>(given, workers, n).run();
    else comparison<float>(given, workers, n).run();
  });
  return 0;
}

}  // namespace
}  // namespace heptad::bench

int main(int argc, char** argv) try { return heptad::bench::run(argc, argv); } catch (std::exception const& e) {
  fmt::print(stderr, "heptad_hybrid_bench: {}\n", e.what());
  return 1;
}
