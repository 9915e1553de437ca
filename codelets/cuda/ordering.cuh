// SPDX-License-Identifier: BSD-3-Clause
// What thread blocks of one launch say to each other through device memory. On the host, for the tests, the same by the
// compiler's own atomics.
#pragma once

#include "codelets/cuda/vector.cuh"

namespace heptad::cuda {

__device__ inline unsigned load_acquire(unsigned const* where) {
#ifdef __CUDA_ARCH__
  unsigned value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(where) : "memory");
  return value;
#else
  return __atomic_load_n(where, __ATOMIC_ACQUIRE);
#endif
}

__device__ inline void store_release(unsigned* where, unsigned value) {
#ifdef __CUDA_ARCH__
  asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(where), "r"(value) : "memory");
#else
  __atomic_store_n(where, value, __ATOMIC_RELEASE);
#endif
}

/// Memory that other blocks wrote: not by way of the cache of this multiprocessor.
template <typename T, int N>
__device__ vector<T, N> load_shared_result(vector<T, N> const* where) {
#ifdef __CUDA_ARCH__
  if constexpr (sizeof(vector<T, N>) == 16) {
    int4 const w = __ldcg(reinterpret_cast<int4 const*>(where));
    vector<T, N> v;
    memcpy(&v, &w, 16);
    return v;
  } else {
    vector<T, N> v;
    for (int i = 0; i < N; ++i) v.x[i] = __ldcg(&where->x[i]);
    return v;
  }
#else
  return *where;
#endif
}

template <typename T, int N>
__device__ void add_atomically(vector<T, N>* where, vector<T, N> const& v) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  constexpr bool in_one = std::is_same_v<T, float> && N == 4;
#else
  constexpr bool in_one = false;
#endif
  if constexpr (in_one)
    asm volatile("red.relaxed.gpu.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(where), "f"(v.x[0]), "f"(v.x[1]),
                 "f"(v.x[2]), "f"(v.x[3])
                 : "memory");
  else
    for (int i = 0; i < N; ++i) atomicAdd(&where->x[i], v.x[i]);
}

}  // namespace heptad::cuda
