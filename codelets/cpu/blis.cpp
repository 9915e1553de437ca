// SPDX-License-Identifier: BSD-3-Clause
// Kernel set "blis": the micro-kernels of BLIS through its public API, for every processor that BLIS knows and we do
// not. They write tiles, which are then added to the destinations. The library is loaded when first asked for and
// with local symbols: Heptad neither needs it nor puts its dgemm_ before the caller's.
// Assumes BLIS 0.9: the type of the micro-kernel is checked at compile time, the version when the library is loaded.
#include <dlfcn.h>

#include <algorithm>
#include <mutex>
#include <string_view>
#include <type_traits>

#include <blis.h>

#include "codelets/cpu/blocks_for_caches.hpp"
#include "codelets/cpu/kernel_sets_builtin.hpp"
#include "codelets/cpu/plain_loops.hpp"
#include "src/process/fork_safe.hpp"
#include "src/process/lasting.hpp"

namespace heptad::cpu {

namespace {

/// c := beta c + alpha a·b for an m × n tile, m ≤ mr, n ≤ nr, at strides rs, cs, from one packed panel of each.
/// May read one step of k past the end of a panel.
template <typename T>
using micro_kernel = void (*)(dim_t m, dim_t n, dim_t k, T* alpha, T* a, T* b, T* beta, T* c, inc_t rs, inc_t cs,
                              auxinfo_t* hints, cntx_t* context);
static_assert(std::is_same_v<dgemm_ukr_ft, micro_kernel<double>> && std::is_same_v<sgemm_ukr_ft, micro_kernel<float>>);

// The child of a fork would find BLIS half loaded.
constinit std::mutex loading;
fork_safe<loading> const in_forks;

/// BLIS's context for this processor; null when there is no BLIS 0.9 with integers of the header's size.
cntx_t* load_context() {
  std::lock_guard const lock(loading);
  void* const library = dlopen("libblis.so.4", RTLD_LOCAL | RTLD_LAZY);
  if (library == nullptr) return nullptr;
  auto const version =
      reinterpret_cast<decltype(&bli_info_get_version_str)>(dlsym(library, "bli_info_get_version_str"));
  auto const integer =
      reinterpret_cast<decltype(&bli_info_get_int_type_size)>(dlsym(library, "bli_info_get_int_type_size"));
  auto const context = reinterpret_cast<decltype(&bli_gks_query_cntx)>(dlsym(library, "bli_gks_query_cntx"));
  if (version == nullptr || integer == nullptr || context == nullptr) return nullptr;
  if (!std::string_view(version()).starts_with("0.9") || integer() != 8 * sizeof(dim_t)) return nullptr;
  return context();
}

/// What the context says of the micro-kernel for T, seen so that its tiles are column-major: a micro-kernel that
/// prefers rows computes the transpose of the tile from B and A in exchanged roles.
template <typename T>
struct native_kernel {
  micro_kernel<T> run = nullptr;
  cntx_t* context = nullptr;
  bool transposed = false;
  blocking blocks;

  native_kernel() {
    cntx_t* const loaded = load_context();
    if (loaded == nullptr) return;
    num_t const type = std::is_same_v<T, double> ? BLIS_DOUBLE : BLIS_FLOAT;
    auto const size = [&](bszid_t id) { return static_cast<int>(bli_cntx_get_blksz_def_dt(type, id, loaded)); };
    auto const panel = [&](bszid_t id) { return static_cast<int>(bli_cntx_get_blksz_max_dt(type, id, loaded)); };
    // Panels with gaps or repetitions, as some processors want them, are not what pack_panels makes.
    bool const plain = panel(BLIS_MR) == size(BLIS_MR) && panel(BLIS_NR) == size(BLIS_NR);
    if (!plain || size(BLIS_MR) * size(BLIS_NR) > max_tile) return;
    context = loaded;
    transposed = bli_cntx_l3_nat_ukr_prefers_rows_dt(type, BLIS_GEMM_UKR, loaded);
    blocks = blocks_for_caches(size(transposed ? BLIS_NR : BLIS_MR), size(transposed ? BLIS_MR : BLIS_NR), sizeof(T));
    run = reinterpret_cast<micro_kernel<T>>(bli_cntx_get_l3_nat_ukr_dt(type, BLIS_GEMM_UKR, loaded));
  }

  static native_kernel const& get() {
    static constinit lasting<native_kernel const> kernel;
    return kernel.get([] { return native_kernel(); });
  }

  /// c := beta c + alpha A·B.
  void operator()(int rows, int cols, int depth, T alpha, T const* A, T const* B, T beta, T* c, inc_t rs,
                  inc_t cs) const {
    T* a = const_cast<T*>(A);  // BLIS takes no pointers to const; it only reads the panels
    T* b = const_cast<T*>(B);
    dim_t m = rows, n = cols;
    if (transposed) {
      std::swap(a, b);
      std::swap(m, n);
      std::swap(rs, cs);
    }
    auxinfo_t hints{};
    bli_auxinfo_set_next_a(a, &hints);
    bli_auxinfo_set_next_b(b, &hints);
    run(m, n, depth, &alpha, a, b, &beta, c, rs, cs, &hints, context);
  }
};

template <typename T>
bool available() {
  return native_kernel<T>::get().run != nullptr;
}

template <typename T>
blocking blocks() {
  return native_kernel<T>::get().blocks;
}

template <typename T>
void pack_a(term<T> const* terms, int count, std::int64_t rs, std::int64_t cs, int rows, int depth, T* packed,
            T* largest) {
  pack_panels(terms, count, rs, cs, rows, depth, blocks<T>().mr, packed, largest);
}

template <typename T>
void pack_b(term<T> const* terms, int count, std::int64_t rs, std::int64_t cs, int depth, int cols, T* packed,
            T* largest) {
  pack_panels(terms, count, cs, rs, cols, depth, blocks<T>().nr, packed, largest);
}

template <typename T>
void macro(macro_call<T> const& call) {
  native_kernel<T> const& kernel = native_kernel<T>::get();
  for_each_tile(call, kernel.blocks.mr, kernel.blocks.nr,
                [&](int rows, int cols, T const* A, T const* B, T beta, T* tile, int ld) {
                  kernel(rows, cols, call.depth, T(1), A, B, beta, tile, 1, ld);
                });
}

template <typename T>
constexpr kernel_set<T> kernels{"blis", available<T>, blocks<T>, pack_a<T>, pack_b<T>, macro<T>};

}  // namespace

constinit kernel_set<double> const blis_kernels_f64 = kernels<double>;
constinit kernel_set<float> const blis_kernels_f32 = kernels<float>;

}  // namespace heptad::cpu
