// SPDX-License-Identifier: BSD-3-Clause
// The devices of this process for products that they share with the CPU: each call works on the device that it names,
// and leaves the thread's current device as it was.
#include <cuda_runtime_api.h>

#include <cstddef>
#include <string>
#include <variant>

#include "schedulers/cuda/backend.hpp"
#include "src/api/cuda/device.hpp"
#include "src/api/cuda/host_gemm.hpp"
#include "src/api/cuda/stream_tasks.hpp"
#include "src/plan/device_planner.hpp"
#include "tasks/transfer_planner.hpp"

namespace heptad::cuda {
namespace {

class device_scope {
public:
  explicit device_scope(int device) {
    (void)cudaGetDevice(&before_);
    check(cudaSetDevice(device), "cudaSetDevice");
    (void)current_device();  // throws where it is not one for Heptad
  }
  ~device_scope() { (void)cudaSetDevice(before_); }
  device_scope(device_scope const&) = delete;
  device_scope& operator=(device_scope const&) = delete;

private:
  int before_ = 0;
};

/// A logical device has its share of the memory; every logical one its own rings.
host_options options_of(device_share const& who) {
  host_options all;
  all.device = cuda::options_of(who.wishes);
  all.copy_threads = who.copy_threads;
  std::size_t const most = who.max_device_memory.value_or(usable_memory());
  all.max_device_memory = most / static_cast<std::size_t>(who.sharers);
  return all;
}

class cuda_devices final : public device_backend {
public:
  [[nodiscard]] char const* version() const noexcept override { return HEPTAD_VERSION; }

  std::vector<found_device> devices() override {
    std::vector<found_device> all;
    for (int d = 0, count = count_devices(); d < count; ++d) {
      found_device& x = all.emplace_back();
      x.number = d;
      cudaDeviceProp properties{};
      if (cudaGetDeviceProperties(&properties, d) == cudaSuccess) x.name = properties.name;
      try {
        device_scope const on(d);
      } catch (error const& e) {
        x.unusable = e.what();
      }
    }
    return all;
  }

  bool is_pinned(char const* name, void const* first, void const* last) override {
    return cuda::is_pinned(name, first, last);
  }

  device_forecast predict(device_share const& who, element_type type, problem const& shape, bool pinned) override {
    device_scope const on(who.device);
    device_forecast alone = predict_host_gemm(type, shape, pinned, options_of(who));
    alone.seconds *= who.sharers;
    return alone;
  }

  std::unique_ptr<stream_tasks> tasks_on_streams(graph const& g, int levels) override {
    return make_stream_tasks(g, levels);
  }

  std::string calibrate(std::string const& path,
                        std::function<void(double, std::string const&)> const& progress) override {
    return cuda::calibrate(path, progress);
  }

  device_work multiply(device_share const& who, any_device_product const& x, std::atomic<bool>& touched) override {
    device_scope const on(who.device);
    auto const work = [&]<typename T>(device_product<T> const& p) {
      return host_gemm(operands<T>{p.alpha, p.A, p.B, p.beta, p.C}, options_of(who), touched);
    };
    host_report const r = std::visit(work, x);
    return {describe_blocks(r.plan, r.products, r.resident), r.bytes_in, r.bytes_out, r.overlap};
  }
};

}  // namespace
}  // namespace heptad::cuda

HEPTAD_API heptad::device_backend* heptad_cuda_backend() noexcept {
  static heptad::cuda::cuda_devices devices;
  return &devices;
}
