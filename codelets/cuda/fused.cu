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
  constexpr std::int64_t width = 16 / sizeof(T);
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

template <typename Shape, bool Wide>
cudaError_t launch_as(cudaStream_t stream, fused_call<typename Shape::element> const& call) {
  fused_arguments<typename Shape::element> a{};
  std::ranges::copy(call.products, a.products);
  a.m = static_cast<int>(call.m), a.n = static_cast<int>(call.n), a.k = static_cast<int>(call.k);
  a.ld_a = call.a.ld, a.ld_b = call.b.ld, a.ld_c = call.ldc;
  a.a_along_k = call.a.order == orientation::row_major;
  a.b_along_k = call.b.order == orientation::column_major;
  a.how = call.how;
  a.grid = Shape::grid(call.m, call.n);
  a.counters = call.counters;
  a.first_ticket = call.first_ticket;
  int device = 0, capability = 0;
  cudaError_t known = cudaGetDevice(&device);
  if (known == cudaSuccess) known = cudaDeviceGetAttribute(&capability, cudaDevAttrComputeCapabilityMajor, device);
  if (known != cudaSuccess) return known;
  if (Shape::tensor && capability < 8) return cudaErrorInvalidValue;
  cudaLaunchConfig_t config{};
  config.gridDim.x = static_cast<unsigned>(static_cast<std::int64_t>(call.products.size()) * a.grid.tiles());
  config.blockDim.x = Shape::threads;
  config.dynamicSmemBytes = Shape::shared_bytes;
  config.stream = stream;
  return cudaLaunchKernelEx(&config, fused_kernel<Shape, Wide>, std::move(a));
}

template <typename T, int Number = 0>
cudaError_t launch_numbered(cudaStream_t stream, fused_call<T> const& call) {
  constexpr auto tiles = fused_tiles(sizeof(T) == 8 ? element_type::f64 : element_type::f32);
  static_assert(std::tuple_size_v<typename compiled_shapes<T>::list> == tiles.size());
  if constexpr (Number < static_cast<int>(tiles.size())) {
    using shape = compiled_shape<T, Number>;
    static_assert(shape::m == tiles[Number].m && shape::n == tiles[Number].n);
    if (call.tile != Number) return launch_numbered<T, Number + 1>(stream, call);
    return is_wide(call) ? launch_as<shape, true>(stream, call) : launch_as<shape, false>(stream, call);
  } else {
    return cudaErrorInvalidValue;
  }
}

}  // namespace

template <typename T>
cudaError_t launch_fused(cudaStream_t stream, fused_call<T> const& call) {
  if (call.products.empty() || call.m == 0 || call.n == 0) return cudaSuccess;
  constexpr std::int64_t most = 0x7fffffff;
  if (call.products.size() > most_fused_products || std::max({call.m, call.n, call.k}) > most || call.k == 0 ||
      (call.how == accumulation::ordered && call.counters == nullptr))
    return cudaErrorInvalidValue;
  return launch_numbered<T>(stream, call);
}

template <typename T>
std::vector<tile_needs> fused_needs() {
  return std::apply(
      [](auto... shapes) {
        auto const of = []<typename Shape>(Shape) {
          cudaFuncAttributes kernel{};
          tile_needs needs{Shape::threads, 0, Shape::shared_bytes, Shape::tensor};
          for (auto* function : {fused_kernel<Shape, true>, fused_kernel<Shape, false>}) {
            if (cudaFuncGetAttributes(&kernel, function) != cudaSuccess) return tile_needs{};
            needs.registers = std::max(needs.registers, kernel.numRegs);
          }
          return needs;
        };
        return std::vector{of(shapes)...};
      },
      typename compiled_shapes<T>::list{});
}

template std::vector<tile_needs> fused_needs<double>();
template std::vector<tile_needs> fused_needs<float>();
template cudaError_t launch_fused(cudaStream_t, fused_call<double> const&);
template cudaError_t launch_fused(cudaStream_t, fused_call<float> const&);

}  // namespace heptad::cuda
