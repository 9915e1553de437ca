// SPDX-License-Identifier: BSD-3-Clause
// From the arguments of a fused product to a launch of its kernel.
#include <algorithm>
#include <type_traits>

#include "codelets/cuda/fused_kernel.cuh"

namespace heptad::cuda {
namespace {

/// All vectors of 16 bytes, of every operand, are whole and aligned.
template <typename T>
bool is_wide(fused_call<T> const& call) {
  constexpr std::int64_t width = tile_shape<T>::width;
  auto const aligned = [](T const* data) { return reinterpret_cast<std::uintptr_t>(data) % 16 == 0; };
  auto const whole = [](fused_layout const& x, std::int64_t rows, std::int64_t cols) {
    return x.ld % width == 0 && (x.order == orientation::column_major ? rows : cols) % width == 0;
  };
  auto const product_aligned = [&](fused_product<T> const& p) {
    return std::all_of(p.a, p.a + p.sources_a, [&](auto const& s) { return aligned(s.data); }) &&
           std::all_of(p.b, p.b + p.sources_b, [&](auto const& s) { return aligned(s.data); }) &&
           std::all_of(p.c, p.c + p.targets, [&](auto const& t) { return aligned(t.data); });
  };
  return whole(call.a, call.m, call.k) && whole(call.b, call.k, call.n) && call.ldc % width == 0 &&
         call.m % width == 0 && std::ranges::all_of(call.products, product_aligned);
}

template <typename T, bool Wide>
cudaError_t launch_as(cudaStream_t stream, fused_call<T> const& call) {
  using shape = tile_shape<T>;
  fused_arguments<T> a{};
  std::ranges::copy(call.products, a.products);
  a.m = static_cast<int>(call.m), a.n = static_cast<int>(call.n), a.k = static_cast<int>(call.k);
  a.ld_a = call.a.ld, a.ld_b = call.b.ld, a.ld_c = call.ldc;
  a.a_along_k = call.a.order == orientation::row_major;
  a.b_along_k = call.b.order == orientation::column_major;
  a.how = call.how;
  a.grid = shape::grid(call.m, call.n);
  a.counters = call.counters;
  a.first_ticket = call.first_ticket;
  cudaLaunchConfig_t config{};
  config.gridDim.x =
      static_cast<unsigned>(fused_items<T>(static_cast<std::int64_t>(call.products.size()), call.m, call.n));
  config.blockDim.x = shape::threads;
  config.dynamicSmemBytes = shape::shared_bytes;
  config.stream = stream;
  return cudaLaunchKernelEx(&config, fused_kernel<T, Wide>, std::move(a));
}

}  // namespace

template <typename T>
cudaError_t launch_fused(cudaStream_t stream, fused_call<T> const& call) {
  if (call.products.empty() || call.m == 0 || call.n == 0) return cudaSuccess;
  constexpr std::int64_t most = 0x7fffffff;
  if (call.products.size() > most_fused_products || std::max({call.m, call.n, call.k}) > most || call.k == 0 ||
      (call.how == accumulation::ordered && call.counters == nullptr))
    return cudaErrorInvalidValue;
  return is_wide(call) ? launch_as<T, true>(stream, call) : launch_as<T, false>(stream, call);
}

template cudaError_t launch_fused(cudaStream_t, fused_call<float> const&);

}  // namespace heptad::cuda
