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

/// Through the cache for memory that does not change while the kernel runs.
template <typename T, int N>
__device__ vector<T, N> load_constant(vector<T, N> const* where) {
  constexpr int bytes = sizeof(vector<T, N>);
  using word = std::conditional_t<bytes == 16, int4, std::conditional_t<bytes == 8, int2, int>>;
  word const w = __ldg(reinterpret_cast<word const*>(where));
  vector<T, N> v;
  memcpy(&v, &w, bytes);
  return v;
}

}  // namespace heptad::cuda
