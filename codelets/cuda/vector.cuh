// SPDX-License-Identifier: BSD-3-Clause
// Some neighbouring elements as one value: one wide load, one wide store, arithmetic element by element.
#pragma once

#include <cstring>
#include <type_traits>

namespace heptad::cuda {

template <typename T, int N>
struct alignas(sizeof(T) * N) vector {
  T x[N];

  __device__ static constexpr vector zero() {
    vector v{};
    return v;
  }
  friend __device__ vector operator+(vector a, vector const& b) {
    for (int i = 0; i < N; ++i) a.x[i] += b.x[i];
    return a;
  }
  friend __device__ vector operator-(vector a, vector const& b) {
    for (int i = 0; i < N; ++i) a.x[i] -= b.x[i];
    return a;
  }
  friend __device__ vector operator-(vector a) {
    for (int i = 0; i < N; ++i) a.x[i] = -a.x[i];
    return a;
  }
  friend __device__ vector operator*(T c, vector a) {
    for (int i = 0; i < N; ++i) a.x[i] *= c;
    return a;
  }
};

/// What the device moves such a vector as.
template <typename T, int N>
using word_of =
    std::conditional_t<sizeof(vector<T, N>) == 16, int4, std::conditional_t<sizeof(vector<T, N>) == 8, int2, int>>;

/// Through the cache for memory that does not change while the kernel runs.
template <typename T, int N>
__device__ vector<T, N> load_constant(vector<T, N> const* where) {
  word_of<T, N> const w = __ldg(reinterpret_cast<word_of<T, N> const*>(where));
  vector<T, N> v;
  memcpy(&v, &w, sizeof v);
  return v;
}

/// What is not read again soon. An assignment becomes a store for each element: those of a warp lie apart, and each
/// store moves whole sectors.
template <typename T, int N>
__device__ void store(vector<T, N>* where, vector<T, N> const& v) {
#ifdef __CUDA_ARCH__
  word_of<T, N> w;
  memcpy(&w, &v, sizeof v);
  __stcs(reinterpret_cast<word_of<T, N>*>(where), w);
#else
  *where = v;
#endif
}

}  // namespace heptad::cuda
