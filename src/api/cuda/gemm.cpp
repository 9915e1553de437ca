// SPDX-License-Identifier: BSD-3-Clause
// One call on a device: check → C column-major → plan (or a known one) → workspace on the stream → queue.
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <utility>

#include <heptad/cuda.hpp>

#include "codelets/cuda/product.hpp"
#include "schedulers/cuda/stream_executor.hpp"
#include "src/api/cuda/device.hpp"
#include "src/api/cuda/recent.hpp"
#include "src/api/cuda/view.hpp"
#include "src/api/present.hpp"
#include "src/plan/device_planner.hpp"
#include "src/process/lasting.hpp"

namespace heptad::cuda {

struct executable::impl {
  cuda::plan how;
  int device;
  stream_executor work;

  [[nodiscard]] std::size_t bytes() const { return work.workspace_bytes(); }
};

namespace {

template <typename T>
void check_on_device(operands<T> const& x, int device) {
  check_operands(x);
  if (x.reads_factors()) {
    check_device_pointer("A.data", x.A.data, sizeof(T), device);
    check_device_pointer("B.data", x.B.data, sizeof(T), device);
  }
  if (x.C.rows > 0 && x.C.cols > 0) check_device_pointer("C.data", x.C.data, sizeof(T), device);
}

/// Workspace of one call, from the caller or from the stream-ordered pool.
class stream_memory {
public:
  stream_memory(cudaStream_t stream, workspace const& given, std::size_t bytes) : stream_(stream), data_(given.data) {
    if (bytes == 0) return;
    if (given.data == nullptr) {
      check(cudaMallocAsync(&data_, bytes, stream), "workspace");
      owned_ = true;
      return;
    }
    if (given.bytes < bytes)
      reject(fmt::format("memory.bytes = {} must be at least the plan's {}", given.bytes, bytes));
    if (reinterpret_cast<std::uintptr_t>(given.data) % device_alignment != 0)
      reject(fmt::format("memory.data = {} must be aligned to {} bytes", given.data, device_alignment));
  }
  ~stream_memory() {
    if (owned_) (void)cudaFreeAsync(data_, stream_);
  }
  stream_memory(stream_memory const&) = delete;
  stream_memory& operator=(stream_memory const&) = delete;
  [[nodiscard]] void* data() const noexcept { return data_; }

private:
  cudaStream_t stream_;
  void* data_;
  bool owned_ = false;
};

template <typename T>
void scale_only(cudaStream_t stream, operands<T> const& x) {
  auto const C = device_view("C", x.C);
  if (x.beta != T(1)) check(launch_scale(stream, x.beta, C.data, C.ld, x.C.rows, x.C.cols), "scale");
}

/// The caller's handle, or one of Heptad's, in the modes of product().
class call_handle {
public:
  call_handle(cudaStream_t stream, cublasHandle_t given, int device) {
    if (given == nullptr) {
      given = own_.emplace(device, stream).get();
    } else {
      cudaStream_t its = nullptr;
      cublasGetStream(given, &its);
      if (its != stream) reject("handle must have been set to the stream of the call");
    }
    modes_.emplace(given);
    handle_ = given;
  }
  [[nodiscard]] cublasHandle_t get() const noexcept { return handle_; }

private:
  std::optional<leased_handle> own_;
  std::optional<handle_modes> modes_;
  cublasHandle_t handle_ = nullptr;
};

template <typename T>
void queue(cudaStream_t stream, call_handle const& handle, executable::impl const& what, operands<T> const& x,
           workspace const& memory) {
  device_matrix<T const> const A = device_view("A", x.A), B = device_view("B", x.B);
  device_matrix<T> const C = device_view("C", x.C);
  stream_memory const held(stream, memory, what.bytes());
  what.work.run(stream, handle.get(), bound_operands<T>{x.alpha, A, B, x.beta, C, static_cast<T*>(held.data())});
}

struct plan_key {
  int device;
  int generation;  // of the profiles
  element_type type;
  problem shape;
  options wishes;
  friend bool operator==(plan_key const&, plan_key const&) = default;
};

struct planned {
  executable ready;
  std::size_t free;   // bytes, when it was planned
  bool lacks_memory;  // for another plan
};

planned plan_with_free_memory(plan_key const& key) {
  std::size_t const free = free_memory();
  device_profile const device = profile_of(key.device);
  plan const how = choose_device_plan(key.type, key.shape, free, device, key.wishes);
  return {executable(how), free, lacks_memory(how, device, key.wishes)};
}

using plans = recent<plan_key, planned, 16>;

plans& known_plans() {
  static constinit lasting<plans> known;
  return known.get([] { return plans(); });
}

/// A plan that lacks memory is made again once twice as much is free.
std::shared_ptr<executable const> prepare(plan_key const& key) {
  auto const found = known_plans().get(
      key, [&] { return plan_with_free_memory(key); },
      [](planned const& p) { return !p.lacks_memory || free_memory() / 2 < p.free; });
  return {found, &found->ready};
}

void check_fits(plan const& how, element_type type, problem const& shape) {
  if (how.type != type) reject("what.how().type must be the element type of A, B and C");
  problem expected = how.shape;
  if (expected.beta_zero && !shape.beta_zero)
    reject("what.how().shape.beta_zero = true must be false when beta is not 0");
  expected.beta_zero = shape.beta_zero;
  if (!(expected == shape))
    reject(fmt::format(
        "what.how().shape (m = {}, n = {}, k = {}) must be that of the product (m = {}, n = {}, k = {}) and "
        "its layouts",
        how.shape.m, how.shape.n, how.shape.k, shape.m, shape.n, shape.k));
}

}  // namespace

executable::executable(plan const& how) : impl_(new impl{how, current_device(), stream_executor(how)}) {
  impl_->how.workspace = impl_->bytes();
}
executable::~executable() = default;
executable::executable(executable&&) noexcept = default;
executable& executable::operator=(executable&&) noexcept = default;
plan const& executable::how() const noexcept { return impl_->how; }
std::size_t executable::workspace_bytes() const noexcept { return impl_->bytes(); }

template <typename T>
plan make_plan(problem const& shape, options const& wishes) {
  int const device = current_device();
  check_problem(shape, sizeof(T));
  return choose_device_plan(type_of<T>, present(shape), free_memory(), profile_of(device), wishes);
}

template <typename T>
void gemm(cudaStream_t stream, cublasHandle_t handle, executable const& what, T alpha, matrix_view<T const> A,
          matrix_view<T const> B, T beta, matrix_view<T> C, workspace memory) {
  executable::impl const& state = what.state();
  int const device = current_device();
  if (device != state.device)
    reject(fmt::format("the current device {} must be that of the executable, {}", device, state.device));
  operands<T> const given{alpha, A, B, beta, C};
  check_on_device(given, device);
  operands<T> const x = present(given);
  check_fits(state.how, type_of<T>, shape_of(x));
  if (x.reads_factors()) queue(stream, call_handle(stream, handle, device), state, x, memory);
  else scale_only(stream, x);
}

template <typename T>
void gemm(cudaStream_t stream, cublasHandle_t handle, T alpha, matrix_view<T const> A, matrix_view<T const> B, T beta,
          matrix_view<T> C, options const& wishes) {
  check_options(wishes);
  int const device = current_device();
  operands<T> const given{alpha, A, B, beta, C};
  check_on_device(given, device);
  operands<T> const x = present(given);
  if (!x.reads_factors()) return scale_only(stream, x);
  call_handle const by(stream, handle, device);
  plan_key key{device, profile_generation(), type_of<T>, shape_of(x), wishes};
  for (;;) {
    auto const what = prepare(key);
    try {
      return queue(stream, by, what->state(), x, {});
    } catch (error const& e) {
      // Memory that was free when the plan was made may be gone: ask for half, down to cuBLAS alone.
      if (e.code() != heptad::status::out_of_memory || what->workspace_bytes() == 0) throw;
      key.wishes.max_workspace = what->workspace_bytes() / 2;
    }
  }
}

#define HEPTAD_FOR(T)                                                                                           \
  template HEPTAD_API plan make_plan<T>(problem const&, options const&);                                        \
  template HEPTAD_API void gemm(cudaStream_t, cublasHandle_t, executable const&, T, matrix_view<T const>,       \
                                matrix_view<T const>, T, matrix_view<T>, workspace);                            \
  template HEPTAD_API void gemm(cudaStream_t, cublasHandle_t, T, matrix_view<T const>, matrix_view<T const>, T, \
                                matrix_view<T>, options const&);
HEPTAD_FOR(double)
HEPTAD_FOR(float)
#undef HEPTAD_FOR

}  // namespace heptad::cuda
