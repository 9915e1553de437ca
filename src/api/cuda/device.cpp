// SPDX-License-Identifier: BSD-3-Clause
#include "src/api/cuda/device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "schedulers/cuda/check.hpp"
#include "src/plan/device_profile_file.hpp"
#include "src/process/lasting.hpp"

namespace heptad::cuda {
namespace {

int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, device), "cudaDeviceGetAttribute");
  return value;
}

void scale(product_rates& rates, double factor) {
  for (auto& c : rates.cubes) c.single *= factor, c.batched *= factor;
  for (auto& t : rates.thins) t.tflops *= factor;
  for (auto& f : rates.fused) f.tflops *= factor;
}

/// The table of the H200 by the cores, the memory bus and the FP64 units of this device.
device_profile assumed_profile(int device) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
  device_profile p = default_device_profile();
  if (p.name == properties.name) return p;
  p.name = properties.name;
  p.memory_bytes = properties.totalGlobalMem;
  p.multiprocessors = properties.multiProcessorCount;
  double const clock = attribute(cudaDevAttrClockRate, device) / 1980e3;
  double const cores = properties.multiProcessorCount / 132.0 * clock;
  double const f64 = 2.0 / attribute(cudaDevAttrSingleToDoublePrecisionPerfRatio, device);
  scale(p.f32, cores);
  scale(p.f64, cores * f64);
  scale(p.tf32, cores);
  scale(p.bf16, cores);
  // Bits per transfer times transfers per second, two a clock.
  double const bus = 2.0 * attribute(cudaDevAttrMemoryClockRate, device) * 1e3 * properties.memoryBusWidth / 8;
  p.pass_gbytes = 0.75 * bus / 1e9;
  p.measured = false;
  return p;
}

/// Without a home there is no profile, which is no failure.
std::optional<device_profile> measured_profile(std::string const& name) {
  std::string path;
  try {
    path = device_profiles_path();
  } catch (error const&) {
    return std::nullopt;
  }
  return load_device_profile(path, name);
}

std::mutex profiles_mutex;
std::atomic<int> forgotten{0};
std::map<int, device_profile>& known_profiles() {
  static constinit lasting<std::map<int, device_profile>> known;
  return known.get([] { return std::map<int, device_profile>(); });
}

bool is_captured(cudaStream_t stream) {
  cudaStreamCaptureStatus how = cudaStreamCaptureStatusNone;
  if (cudaStreamIsCapturing(stream, &how) == cudaSuccess) return how != cudaStreamCaptureStatusNone;
  (void)cudaGetLastError();  // the default stream, which no capture holds, while another one is captured
  return false;
}

std::mutex handles_mutex;
// Never destroyed: at exit the driver may be gone before static objects are.
std::map<int, std::vector<cublasHandle_t>>& idle_handles() {
  static auto* const all = new std::map<int, std::vector<cublasHandle_t>>;
  return *all;
}

}  // namespace

void check(cudaError_t status, char const* what) {
  if (status == cudaSuccess) return;
  fail(status_of(status),
       fmt::format("{}: {} ({}); nothing was queued", what, cudaGetErrorString(status), cudaGetErrorName(status)));
}

int count_devices() {
  int count = 0;
  if (cudaError_t const status = cudaGetDeviceCount(&count); status != cudaSuccess)
    fail(heptad::status::invalid_argument, fmt::format("no usable CUDA device: {}", cudaGetErrorString(status)));
  return count;
}

int current_device() {
  int device = 0;
  if (cudaError_t const status = cudaGetDevice(&device); status != cudaSuccess)
    fail(heptad::status::invalid_argument,
         fmt::format("no usable CUDA device: {} ({})", cudaGetErrorString(status), cudaGetErrorName(status)));
  thread_local int known = -1;  // the last one that was found fit
  if (device == known) return device;
  if (count_devices() == 0) throw error(heptad::status::invalid_argument, "no usable CUDA device: none was found");
  int const major = attribute(cudaDevAttrComputeCapabilityMajor, device);
  int const minor = attribute(cudaDevAttrComputeCapabilityMinor, device);
  if (10 * major + minor < 75)
    throw error(heptad::status::invalid_argument,
                fmt::format("device {} has compute capability {}.{}: 7.5 or above is needed", device, major, minor));
  return known = device;
}

device_profile profile_of(int device) {
  std::lock_guard const lock(profiles_mutex);
  auto const found = known_profiles().find(device);
  if (found != known_profiles().end()) return found->second;
  device_profile p = assumed_profile(device);
  if (auto measured = measured_profile(p.name)) {
    std::string const stale = stale_reason(*measured, cublas_version());
    if (stale.empty()) p = std::move(*measured);
    else p.remark = fmt::format("the profile was {}; run `heptad calibrate --device cuda`", stale);
  }
  return known_profiles().emplace(device, p).first->second;
}

void forget_profiles() {
  std::lock_guard const lock(profiles_mutex);
  known_profiles().clear();
  ++forgotten;
}

int profile_generation() { return forgotten; }

int cublas_version() {
  int major = 0, minor = 0, patch = 0;
  cublasGetProperty(MAJOR_VERSION, &major);
  cublasGetProperty(MINOR_VERSION, &minor);
  cublasGetProperty(PATCH_LEVEL, &patch);
  return 10000 * major + 100 * minor + patch;
}

std::size_t free_memory() {
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  return free;
}

std::size_t usable_memory() {
  std::size_t const most = free_memory() / 10 * 9, step = std::max<std::size_t>(std::bit_floor(most) / 16, 1);
  return most / step * step;
}

void check_device_pointer(char const* name, void const* data, std::size_t element_bytes, int device) {
  auto const reject = [&](std::string const& rule) {
    throw error(heptad::status::invalid_argument, fmt::format("{} = {} {}", name, data, rule));
  };
  if (reinterpret_cast<std::uintptr_t>(data) % element_bytes != 0)
    reject(fmt::format("must be aligned to its elements of {} bytes", element_bytes));
  cudaPointerAttributes attributes{};
  check(cudaPointerGetAttributes(&attributes, data), "cudaPointerGetAttributes");
  if (attributes.type == cudaMemoryTypeUnregistered || attributes.type == cudaMemoryTypeHost)
    reject("must point to device memory; it is host memory");
  if (attributes.type == cudaMemoryTypeDevice && attributes.device != device)
    reject(fmt::format("must be memory of the current device {}; it is of device {}", device, attributes.device));
}

leased_handle::leased_handle(int device, cudaStream_t stream) : device_(device) {
  {
    std::lock_guard const lock(handles_mutex);
    auto& idle = idle_handles()[device];
    if (!idle.empty()) {
      handle_ = idle.back();
      idle.pop_back();
    }
  }
  if (handle_ == nullptr) {
    if (is_captured(stream))
      throw error(heptad::status::invalid_argument,
                  "handle = null must be a cuBLAS handle while the stream is captured and none of Heptad's is idle, as "
                  "none can be made meanwhile; a call before the capture leaves one");
    cublasStatus_t const status = cublasCreate(&handle_);
    if (status != CUBLAS_STATUS_SUCCESS)
      fail(status == CUBLAS_STATUS_ALLOC_FAILED ? heptad::status::out_of_memory : heptad::status::internal_error,
           fmt::format("cublasCreate: {}; nothing was queued", cublasGetStatusString(status)));
  }
  cublasSetStream(handle_, stream);
}

leased_handle::~leased_handle() {
  std::lock_guard const lock(handles_mutex);
  idle_handles()[device_].push_back(handle_);
}

}  // namespace heptad::cuda
