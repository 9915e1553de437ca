// SPDX-License-Identifier: BSD-3-Clause
// One call on matrices in host memory: check → C column-major → cut for the device → transfer and multiply, blocking.
#include "src/api/cuda/host_gemm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <heptad/cuda.hpp>

#include "schedulers/cuda/transfer_executor.hpp"
#include "src/api/cuda/device.hpp"
#include "src/api/cuda/idle_rings.hpp"
#include "src/api/cuda/recent.hpp"
#include "src/api/cuda/view.hpp"
#include "src/api/present.hpp"
#include "src/process/lasting.hpp"
#include "tasks/transfer_planner.hpp"

namespace heptad::cuda {

bool is_pinned(char const* name, void const* first, void const* last) {
  bool pinned = true;
  for (void const* const where : {first, last}) {
    cudaPointerAttributes attributes{};
    check(cudaPointerGetAttributes(&attributes, where), "cudaPointerGetAttributes");
    if (attributes.type == cudaMemoryTypeDevice)
      reject(fmt::format("{}.data = {} must point to host memory; it is memory of device {}", name, first,
                         attributes.device));
    pinned = pinned && attributes.type != cudaMemoryTypeUnregistered;
  }
  return pinned;
}

namespace {

constexpr std::size_t least_ring = std::size_t{64} << 10;

template <typename T>
T* last_of(matrix_view<T> const& X) {
  return X.data + (X.rows - 1) * X.row_stride + (X.cols - 1) * X.col_stride;
}

/// Host memory, which the device may copy itself when both ends are pinned.
template <typename T>
host_matrix<T> host_view(char const* name, matrix_view<T> const& X) {
  auto const view = device_view(name, X);
  if (reinterpret_cast<std::uintptr_t>(X.data) % sizeof(T) != 0)
    reject(fmt::format("{}.data = {} must be aligned to its elements of {} bytes", name,
                       static_cast<void const*>(X.data), sizeof(T)));
  return {view.data, view.ld, view.order, is_pinned(name, X.data, last_of(X))};
}

void check_options(host_options const& wishes) {
  if (wishes.ring_bytes < least_ring)
    reject(fmt::format("ring_bytes = {} must be at least {}", wishes.ring_bytes, least_ring));
  if (wishes.copy_threads < 1) reject(fmt::format("copy_threads = {} must be at least 1", wishes.copy_threads));
}

template <typename T>
void scale(T beta, matrix_view<T> const& C) {
  for (std::int64_t j = 0; j < C.cols; ++j)
    for (std::int64_t i = 0; i < C.rows; ++i) {
      T& x = C.data[i * C.row_stride + j * C.col_stride];
      x = beta == T(0) ? T(0) : beta * x;
    }
}

transfer_means means_of(bool pinned, host_options const& wishes) {
  std::size_t const free = usable_memory();
  return {std::min(wishes.max_device_memory.value_or(free), free), pinned, wishes.copy_threads};
}

struct transfer_key {
  int device, generation;  // of the profiles
  element_type type;
  problem shape;
  transfer_means means;
  options wishes;
  friend bool operator==(transfer_key const&, transfer_key const&) = default;
};

/// Made once for a shape: a call that shares C with others weighs many blocks before it computes the last of them.
std::shared_ptr<transfer_plan const> plan_transfers(element_type type, problem const& shape,
                                                    transfer_means const& means, int device, options const& wishes) {
  using plans = recent<transfer_key, transfer_plan, 64>;
  static constinit lasting<plans> known;
  return known.get([] { return plans(); }).get({device, profile_generation(), type, shape, means, wishes}, [&] {
    return choose_transfer_plan(type, shape, means, profile_of(device), wishes);
  });
}

/// With as much device memory as there is: what was free may be gone, so less is asked for until it is had.
std::unique_ptr<transfer_executor> prepare(element_type type, problem const& shape, bool pinned, int device,
                                           host_options const& wishes) {
  transfer_means means = means_of(pinned, wishes);
  for (;;) {
    auto const how = plan_transfers(type, shape, means, device, wishes.device);
    std::size_t const wanted = how->block_bytes + how->workspace_bytes;
    try {
      return std::make_unique<transfer_executor>(*how);
    } catch (error const& e) {
      if (e.code() != heptad::status::out_of_memory) throw;
      means.device_memory = wanted / 2;  // the next plan fails when nothing fits any more
    }
  }
}

double total(std::vector<interval> const& all) {
  double sum = 0;
  for (interval const& i : all) sum += i.end - i.begin;
  return sum;
}

host_report report_of(transfer_executor const& work, transfer_times const& times, std::size_t element) {
  transfer_plan const& how = work.how();
  host_report r;
  r.plan = how.products.front();
  r.block_m = how.full.m, r.block_n = how.full.n, r.block_k = how.full.k;
  r.products = how.work.products;
  r.resident = how.resident;
  r.bytes_in = static_cast<std::size_t>(how.work.loaded) * element;
  r.bytes_out = static_cast<std::size_t>(how.work.stored) * element;
  r.device_bytes = work.device_bytes();
  r.predicted_seconds = how.forecast.seconds;
  r.in_seconds = total(times.loads), r.product_seconds = total(times.products), r.out_seconds = total(times.stores);
  auto transfers = times.loads;
  transfers.insert(transfers.end(), times.stores.begin(), times.stores.end());
  r.overlap = covered_share(std::move(transfers), times.products);
  r.reason = how.reason;
  return r;
}

template <typename T>
host_report multiply(operands<T> const& x, host_options const& wishes, std::atomic<bool>& touched) {
  int const device = current_device();
  host_operands<T> const given{x.alpha, host_view("A", x.A), host_view("B", x.B), x.beta, host_view("C", x.C)};
  bool const pinned = given.A.pinned && given.B.pinned && given.C.pinned;
  auto const work = prepare(type_of<T>, shape_of(x), pinned, device, wishes);
  std::unique_ptr<rings> through;
  if (!pinned) through = idle_rings::take(device, wishes.ring_bytes, wishes.copy_threads);
  leased_handle const handle(device, nullptr);
  auto const times =
      work->run(handle.get(), through ? transfer_rings{&through->in, &through->out} : transfer_rings{}, given, touched);
  host_report r = report_of(*work, times, sizeof(T));
  r.staged = !pinned;
  if (through) {
    r.pinned_bytes = through->in.bytes() + through->out.bytes();
    idle_rings::give(std::move(through));
  }
  return r;
}

}  // namespace

device_forecast predict_host_gemm(element_type type, problem const& shape, bool pinned, host_options const& wishes) {
  check_options(wishes);
  auto const how = plan_transfers(type, shape, means_of(pinned, wishes), current_device(), wishes.device);
  return {how->forecast.seconds, describe_blocks(how->products.front(), how->work.products, how->resident)};
}

template <typename T>
host_report host_gemm(operands<T> const& given, host_options const& wishes, std::atomic<bool>& touched) {
  auto const start = std::chrono::steady_clock::now();
  check_options(wishes);
  check_operands(given);
  operands<T> const x = present(given);
  host_report r;
  if (x.reads_factors()) {
    r = multiply(x, wishes, touched);
  } else {
    touched = true;
    if (x.beta != T(1)) scale(x.beta, x.C);
    r.reason = "A and B do not contribute: C was scaled by the host";
  }
  r.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  r.gflops = 2.0 * double(x.C.rows) * double(x.C.cols) * double(x.A.cols) / r.seconds / 1e9;
  return r;
}

template host_report host_gemm(operands<double> const&, host_options const&, std::atomic<bool>&);
template host_report host_gemm(operands<float> const&, host_options const&, std::atomic<bool>&);

template <typename T>
host_report gemm(T alpha, matrix_view<T const> A, matrix_view<T const> B, T beta, matrix_view<T> C,
                 host_options const& wishes) {
  std::atomic<bool> touched{false};
  return host_gemm(operands<T>{alpha, A, B, beta, C}, wishes, touched);
}

std::string explain(host_report const& what) {
  std::string text;
  auto const line = [&text](char const* label, std::string const& value) {
    text += fmt::format("{:<12}{}\n", label, value);
  };
  line("blocks",
       fmt::format("{} products of at most {} x {} x {} (m x n x k), {}", what.products, what.block_m, what.block_n,
                   what.block_k, what.resident ? "A and B sent once" : "A or B sent more than once: out of core"));
  line("memory", fmt::format("{} bytes on the device, {} pinned on the host{}", what.device_bytes, what.pinned_bytes,
                             what.staged ? ": an operand was pageable" : ""));
  line("moved", fmt::format("{} bytes to the device in {:.3f} ms, {} back in {:.3f} ms", what.bytes_in,
                            what.in_seconds * 1e3, what.bytes_out, what.out_seconds * 1e3));
  line("overlap", fmt::format("{:.0f} % of the time of transfers; products took {:.3f} ms", 100 * what.overlap,
                              what.product_seconds * 1e3));
  line("time", fmt::format("{:.3f} ms, {:.1f} GFLOP/s; predicted {:.3f} ms", what.seconds * 1e3, what.gflops,
                           what.predicted_seconds * 1e3));
  line("reason", what.reason);
  return text;
}

void release_pinned_memory() { idle_rings::release(); }

#define HEPTAD_FOR(T)                                                                                    \
  template HEPTAD_API host_report gemm(T, matrix_view<T const>, matrix_view<T const>, T, matrix_view<T>, \
                                       host_options const&);
HEPTAD_FOR(double)
HEPTAD_FOR(float)
#undef HEPTAD_FOR

}  // namespace heptad::cuda
