// SPDX-License-Identifier: BSD-3-Clause
// Measures what the planner knows of a device: cuBLAS at the sizes of leaves, single, batched and thin, fused
// products, passes of combine, and the link. Medians of rounds timed by events on random data.
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include <heptad/cuda.hpp>

#include "codelets/cuda/combine.hpp"
#include "codelets/cuda/fused.hpp"
#include "codelets/cuda/product.hpp"
#include "schedulers/cuda/check.hpp"
#include "schedulers/cuda/pinned_ring.hpp"
#include "schedulers/cuda/stream_executor.hpp"
#include "src/algorithm/algorithm.hpp"
#include "src/api/cuda/calibration_room.hpp"
#include "src/api/cuda/device.hpp"
#include "src/plan/device_planner.hpp"
#include "src/plan/device_profile_file.hpp"
#include "src/plan/level_schedule.hpp"

namespace heptad::cuda {
namespace {

using progress_function = std::function<void(double, std::string const&)>;

void check(cublasStatus_t status) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  fail(heptad::status::internal_error, fmt::format("cuBLAS says {}", cublasGetStatusString(status)));
}

class device_memory {
public:
  explicit device_memory(std::size_t bytes) : bytes_(bytes) { cuda::check(cudaMalloc(&data_, bytes), "calibration"); }
  ~device_memory() { cudaFree(data_); }
  device_memory(device_memory const&) = delete;
  device_memory& operator=(device_memory const&) = delete;
  template <typename T>
  [[nodiscard]] T* at(std::size_t offset_bytes) const {
    return reinterpret_cast<T*>(static_cast<char*>(data_) + offset_bytes);
  }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

private:
  void* data_ = nullptr;
  std::size_t bytes_;
};

/// A stream, a handle and as much memory as the measurements take.
class rig {
public:
  rig(int device, std::size_t bytes) : memory_(bytes), handle_(device, nullptr) {
    cuda::check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "a stream");
    cuda::check(cudaEventCreate(&begin_), "an event");
    cuda::check(cudaEventCreate(&end_), "an event");
    check(cublasSetStream(handle_.get(), stream_));
  }
  ~rig() {
    cudaStreamSynchronize(stream_);
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
    cudaStreamDestroy(stream_);
  }
  rig(rig const&) = delete;
  rig& operator=(rig const&) = delete;

  [[nodiscard]] cudaStream_t stream() const noexcept { return stream_; }
  [[nodiscard]] device_memory const& memory() const noexcept { return memory_; }

  /// Seconds of one `work`: the median of five rounds after one that is not counted; short work several times a round.
  double seconds(std::function<void()> const& work) const {
    double const once = round(work, 1);
    int const times = std::clamp(static_cast<int>(1e-3 / std::max(once, 1e-7)), 1, 200);
    std::array<double, 5> rounds{};
    for (double& r : rounds) r = round(work, times);
    std::ranges::sort(rounds);
    return rounds[rounds.size() / 2];
  }

  /// TFLOP/s of `count` products m × n × k in one call.
  template <typename T>
  double product_rate(arithmetic how, std::int64_t m, std::int64_t n, std::int64_t k, int count = 1) const {
    handle_modes const modes(handle_.get());
    std::int64_t const a = m * k, b = k * n, c = m * n;
    T* const A = memory_.at<T>(0);
    T* const B = A + count * a;
    T* const C = B + count * b;
    fill(A, count * (a + b));
    double const took = seconds([&] {
      check(product<T>(handle_.get(), how,
                       {m,
                        n,
                        k,
                        {A, m, orientation::column_major, a},
                        {B, k, orientation::column_major, b},
                        C,
                        m,
                        c,
                        T(1),
                        T(0),
                        count}));
    });
    return 2.0 * double(m) * double(n) * double(k) * count / took / 1e12;
  }

  /// TFLOP/s of the seven products of one fused level, cubes of this size, in tiles of this number.
  template <typename T>
  double fused_rate(std::int64_t size, int tile) const {
    std::int64_t const n = 2 * size;
    plan how;
    how.type = sizeof(T) == 8 ? element_type::f64 : element_type::f32;
    how.tile = tile;
    how.shape.m = how.shape.n = how.shape.k = n;
    how.shape.beta_zero = true;
    how.stages = {make_stage("strassen", 1, false, true)};
    how.core_m = how.core_n = how.core_k = n;
    stream_executor const work(how);
    auto* const A = memory_.at<T>(0);
    fill(A, 2 * n * n);
    auto const square = [&](std::int64_t at) { return device_matrix<T>{A + at * n * n, n, orientation::column_major}; };
    auto const constant = [&](std::int64_t at) {
      return device_matrix<T const>{A + at * n * n, n, orientation::column_major};
    };
    bound_operands<T> const x{1, constant(0), constant(1), 0, square(2), A + 3 * n * n};
    double const took = seconds([&] { work.run<T>(stream_, handle_.get(), x); });
    return 7 * 2.0 * double(size) * double(size) * double(size) / took / 1e12;
  }

private:
  double round(std::function<void()> const& work, int times) const {
    cuda::check(cudaEventRecord(begin_, stream_), "an event");
    for (int i = 0; i < times; ++i) work();
    cuda::check(cudaEventRecord(end_, stream_), "an event");
    cuda::check(cudaEventSynchronize(end_), "a measurement");
    float milliseconds = 0;
    cuda::check(cudaEventElapsedTime(&milliseconds, begin_, end_), "an event");
    return milliseconds * 1e-3 / times;
  }

  /// Uniform in (−1, 1), again before each measurement: zeros, and the sums of sums that products leave behind, would
  /// run at another speed than data.
  template <typename T>
  void fill(T* data, std::int64_t count) const {
    constexpr std::size_t piece = std::size_t{4} << 20;
    static std::vector<T> const values = [] {
      std::mt19937_64 random(1);
      std::uniform_real_distribution<T> uniform(-1, 1);
      std::vector<T> all(piece / sizeof(T));
      for (T& v : all) v = uniform(random);
      return all;
    }();
    std::size_t const bytes = static_cast<std::size_t>(count) * sizeof(T);
    char* const to = reinterpret_cast<char*>(data);
    cuda::check(cudaMemcpy(to, values.data(), std::min(piece, bytes), cudaMemcpyHostToDevice), "calibration");
    for (std::size_t done = piece; done < bytes; done += done)  // what is there, doubled
      cuda::check(cudaMemcpyAsync(to + done, to, std::min(done, bytes - done), cudaMemcpyDeviceToDevice, stream_),
                  "calibration");
  }

  device_memory memory_;
  leased_handle handle_;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

device_limits limits_of_device() {
  int device = 0;
  cudaDeviceProp p{};
  cuda::check(cudaGetDevice(&device), "cudaGetDevice");
  cuda::check(cudaGetDeviceProperties(&p, device), "cudaGetDeviceProperties");
  return {p.major, p.multiProcessorCount, p.maxThreadsPerMultiProcessor, p.regsPerMultiprocessor,
          static_cast<std::int64_t>(p.sharedMemPerMultiprocessor)};
}

/// The fastest of the tiles that are worth a measurement at this size; none where the device runs none.
template <typename T>
std::optional<product_rates::fused_cube> best_fused(rig const& on, int size) {
  std::vector<tile_needs> const needs = fused_needs<T>();
  auto const tiles = fused_tiles(sizeof(T) == 8 ? element_type::f64 : element_type::f32);
  std::optional<product_rates::fused_cube> best;
  for (int const tile : tiles_to_measure(tiles, needs, limits_of_device(), size, 7))
    if (double const rate = on.fused_rate<T>(size, tile); !best || rate > best->tflops)
      best = {size, rate, static_cast<unsigned>(tile)};
  return best;
}

template <typename T>
product_rates rates_of(rig const& on, arithmetic how, bool narrow, std::function<void()> const& next) {
  product_rates rates;
  auto const fits = [&](std::int64_t m, std::int64_t n, std::int64_t k, int count) {
    return product_bytes<T>(m, n, k, count) <= on.memory().bytes();
  };
  std::vector<int> const sizes = narrow
                                     ? std::vector{512, 1024, 2048, 4096, 8192}
                                     : std::vector{128, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 8192, 16384};
  for (int const n : sizes) {
    if (!fits(n, n, n, 1)) break;
    double const single = on.product_rate<T>(how, n, n, n);
    // As many as one to three levels make, where they fit: a batch of few is slower, by its last wave of tiles.
    int count = n <= 1024 ? 343 : n <= 1536 ? 49 : n <= 4096 ? 7 : 1;
    while (count > 1 && !fits(n, n, n, count)) count /= 7;
    rates.cubes.push_back({n, single, count > 1 ? on.product_rate<T>(how, n, n, n, count) : single});
    next();
  }
  std::vector<int> const depths =
      narrow ? std::vector{512, 2048} : std::vector{1, 8, 32, 64, 128, 256, 512, 1024, 2048};
  std::int64_t const side = fits(8192, 8192, deepest_thin, 1) ? 8192 : thin_side;
  for (int const k : depths) rates.thins.push_back({k, on.product_rate<T>(how, side, side, k)});
  next();
  if (how == arithmetic::exact)
    for (int const size : {256, 512, 768, 1024, 1536, 2048, 3072, 4096, 8192})
      if (fits(2 * size, 2 * size, 2 * size + size, 1))
        if (auto const best = best_fused<T>(on, size)) rates.fused.push_back(*best);
  double const aligned = on.product_rate<T>(how, aligned_side, aligned_side, aligned_side),
               odd = on.product_rate<T>(how, odd_side, odd_side, odd_side);
  rates.unaligned = std::min(1.0, odd / aligned);
  return rates;
}

/// A pass that forms the sums of one level of Winograd from four blocks of rows × cols doubles.
double pass_seconds(rig const& on, std::int64_t rows, std::int64_t cols, double* bytes) {
  auto const level = schedule_level(*find_algorithm("winograd"), {update::overwrite, false, true, true, true});
  combine_program const ready(level.sums_A.program);
  std::vector<combine_input<double>> in;
  std::vector<combine_output<double>> out;
  std::size_t at = 0;
  auto const block = [&] {
    double* const data = on.memory().at<double>(at);
    at += static_cast<std::size_t>(rows * cols) * sizeof(double);
    return data;
  };
  for (int i = 0; i < level.sums_A.program.inputs; ++i) in.push_back({block(), rows});
  for (std::size_t q = 0; q < level.sums_A.program.outputs.size(); ++q) out.push_back({block(), rows, 0.0});
  *bytes = double(at);
  return on.seconds([&] { cuda::check(ready.launch<double>(on.stream(), {in, out, rows, cols}), "combine"); });
}

/// Products on a stream of their own, for as long as this lives and the device takes them.
class products_beside {
public:
  products_beside(rig const& on, int device, std::size_t offset, int count) : handle_(device, nullptr) {
    cuda::check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "a stream");
    check(cublasSetStream(handle_.get(), stream_));
    handle_modes const modes(handle_.get());
    constexpr std::int64_t n = side_beside;
    float* const A = on.memory().at<float>(offset);
    for (int i = 0; i < count; ++i)
      check(product<float>(handle_.get(), arithmetic::exact,
                           {n,
                            n,
                            n,
                            {A, n, orientation::column_major, 0},
                            {A + n * n, n, orientation::column_major, 0},
                            A + 2 * n * n,
                            n,
                            0,
                            1,
                            0,
                            1}));
  }
  ~products_beside() {
    cudaStreamSynchronize(stream_);
    cudaStreamDestroy(stream_);
  }
  products_beside(products_beside const&) = delete;
  products_beside& operator=(products_beside const&) = delete;

private:
  leased_handle handle_;
  cudaStream_t stream_ = nullptr;
};

/// Blocks of larger matrices travel in lines, beside products, which make them twice as slow. Of 4 KiB, 64 KiB apart in
/// more host memory than caches hold, others each time.
double seconds_of_line(rig const& on, int device, double load_gbytes) {
  std::size_t const room = on.memory().bytes() - product_bytes<float>(side_beside, side_beside, side_beside),
                    bytes = std::min(line_pitch / line_bytes * room, std::size_t{1} << 30), lines = bytes / line_pitch;
  void* pinned = nullptr;
  cuda::check(cudaHostAlloc(&pinned, bytes, cudaHostAllocDefault), "pinned memory");
  std::unique_ptr<void, decltype(&cudaFreeHost)> const held(pinned, &cudaFreeHost);
  products_beside const running(on, device, room, 200);
  double const took = on.seconds([&, at = std::size_t{0}]() mutable {
    char const* const from = static_cast<char const*>(pinned) + at;
    cuda::check(cudaMemcpy2DAsync(on.memory().at<void>(0), line_bytes, from, line_pitch, line_bytes, lines,
                                  cudaMemcpyHostToDevice, on.stream()),
                "lines to the device");
    at = (at + line_bytes) % line_pitch;
  });
  return std::max(1e-9, took / double(lines) - 0.75 * line_bytes / (load_gbytes * 1e9));
}

void measure_link(rig const& on, int device_number, device_profile& p) {
  std::size_t const bytes = std::min(on.memory().bytes(), std::size_t{256} << 20);
  void* pinned = nullptr;
  cuda::check(cudaHostAlloc(&pinned, bytes, cudaHostAllocDefault), "pinned memory");
  std::unique_ptr<void, decltype(&cudaFreeHost)> const held(pinned, &cudaFreeHost);
  void* const device = on.memory().at<void>(0);
  auto const rate = [&](double seconds) { return double(bytes) / seconds / 1e9; };
  auto const copy = [&](void* to, void const* from, cudaMemcpyKind kind) {
    return rate(
        on.seconds([&] { cuda::check(cudaMemcpyAsync(to, from, bytes, kind, on.stream()), "a copy over the link"); }));
  };
  p.load_gbytes = copy(device, pinned, cudaMemcpyHostToDevice);
  p.store_gbytes = copy(pinned, device, cudaMemcpyDeviceToHost);
  p.line_seconds = seconds_of_line(on, device_number, p.load_gbytes);
  std::vector<char> pageable(bytes, 1);
  std::array<double, 3> rounds{};
  for (double& r : rounds) {
    auto const start = std::chrono::steady_clock::now();
    copy_lines({static_cast<char*>(pinned), bytes, bytes, 1}, {pageable.data(), bytes, bytes, 1}, 1);
    r = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  std::ranges::sort(rounds);
  p.staged_gbytes = rate(rounds[1]);
}

device_profile measure(int device, progress_function const& progress) {
  cudaDeviceProp properties{};
  cuda::check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
  device_profile p = default_device_profile();
  p.name = properties.name;
  p.version = device_profile_version();
  p.cublas = cublas_version();
  p.memory_bytes = properties.totalGlobalMem;
  p.multiprocessors = properties.multiProcessorCount;
  int done = 0;
  constexpr int most = 38;
  std::string what;
  auto const next = [&] {
    if (progress) progress(std::min(1.0, double(done) / most), what);
    ++done;
  };
  auto const begin = [&](char const* now) {
    what = now;
    next();
  };
  begin("memory");
  rig const on(device, calibration_room(free_memory()));
  double bytes = 0;
  p.pass_seconds = pass_seconds(on, 64, 16, &bytes);
  std::int64_t const side = std::clamp<std::int64_t>(
      static_cast<std::int64_t>(std::sqrt(double(on.memory().bytes()) / 12 / sizeof(double))) / 64 * 64, 64, 4096);
  double const large = pass_seconds(on, side, side, &bytes);
  p.pass_gbytes = bytes / std::max(large - p.pass_seconds, large / 2) / 1e9;
  p.call_seconds = 2.0 * 16 * 16 * 16 / on.product_rate<float>(arithmetic::exact, 16, 16, 16) / 1e12;
  begin("link to the host");
  measure_link(on, device, p);
  begin("products, FP64");
  p.f64 = rates_of<double>(on, arithmetic::exact, false, next);
  begin("products, FP32");
  p.f32 = rates_of<float>(on, arithmetic::exact, false, next);
  begin("products, TF32");
  p.tf32 = rates_of<float>(on, arithmetic::tf32, true, next);
  begin("products, BF16");
  p.bf16 = rates_of<float>(on, arithmetic::bf16, true, next);
  p.measured = true;
  if (progress) progress(1, "done");
  return p;
}

}  // namespace

std::string calibrate(std::string const& path, progress_function const& progress) {
  int const device = current_device();
  std::string const where = path.empty() ? device_profiles_path() : path;
  save_device_profile(measure(device, progress), where);
  forget_profiles();
  return where;
}

}  // namespace heptad::cuda
