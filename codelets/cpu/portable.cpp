// SPDX-License-Identifier: BSD-3-Clause
// Kernel set "portable": the readable loops, for any processor. What the other sets are compared to.
#include "codelets/cpu/blocks_for_caches.hpp"
#include "codelets/cpu/kernel_sets_builtin.hpp"
#include "codelets/cpu/plain_loops.hpp"

namespace heptad::cpu {

namespace {

/// Four columns of two 16-byte vectors: the accumulators fit the 16 vector registers of the oldest 64-bit processors.
template <typename T>
constexpr int mr = 32 / static_cast<int>(sizeof(T));
constexpr int nr = 4;

bool always() { return true; }

template <typename T>
blocking blocks() {
  return blocks_for_caches(mr<T>, nr, sizeof(T));
}

template <typename T>
void pack_a(term<T> const* terms, int count, std::int64_t rs, std::int64_t cs, int rows, int depth, T* packed,
            T* largest) {
  pack_panels(terms, count, rs, cs, rows, depth, mr<T>, packed, largest);
}

template <typename T>
void pack_b(term<T> const* terms, int count, std::int64_t rs, std::int64_t cs, int depth, int cols, T* packed,
            T* largest) {
  pack_panels(terms, count, cs, rs, cols, depth, nr, packed, largest);
}

template <typename T>
void macro(macro_call<T> const& call) {
  auto const micro = [depth = call.depth](int rows, int cols, T const* A, T const* B, T beta, T* tile, int ld) {
    T M[nr][mr<T>] = {};
    for (int p = 0; p < depth; ++p, A += mr<T>, B += nr)
      for (int j = 0; j < nr; ++j)
        for (int i = 0; i < mr<T>; ++i) M[j][i] += A[i] * B[j];
    for (int j = 0; j < cols; ++j)
      for (int i = 0; i < rows; ++i) tile[j * ld + i] = beta == T(0) ? M[j][i] : tile[j * ld + i] + M[j][i];
  };
  for_each_tile(call, mr<T>, nr, micro);
}

template <typename T>
constexpr kernel_set<T> kernels{"portable", always, blocks<T>, pack_a<T>, pack_b<T>, macro<T>};

}  // namespace

constinit kernel_set<double> const portable_kernels_f64 = kernels<double>;
constinit kernel_set<float> const portable_kernels_f32 = kernels<float>;

}  // namespace heptad::cpu
