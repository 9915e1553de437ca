// SPDX-License-Identifier: BSD-3-Clause
// Kernel set "avx512": tiles of 24×8 doubles and 48×8 floats in 24 of the 32 vector registers.
#include <immintrin.h>

#include "codelets/cpu/kernel_sets_builtin.hpp"
#include "codelets/cpu/processor.hpp"
#include "codelets/cpu/simd_dots.hpp"
#include "codelets/cpu/simd_kernels.hpp"

namespace heptad::cpu {
namespace {

struct avx512_f64 {
  using element = double;
  using vector = __m512d;
  using mask = __mmask8;
  static constexpr int lanes = 8, nr = 8, tile = 8, most_columns = 9, wide_vectors = 3, narrow = 4, chunk = 8,
                       registers = 32, chunks_ahead = 4;
  static constexpr bool halves = true;
  static bool in_two_turns(microarchitecture here) { return here == microarchitecture::amd_up_to_zen4; }
  static mask first(int count) { return static_cast<mask>((1u << count) - 1); }
  static vector zero() { return _mm512_setzero_pd(); }
  static vector load(double const* p) { return _mm512_loadu_pd(p); }
  static vector load(double const* p, mask m) { return _mm512_maskz_loadu_pd(m, p); }
  static void store(double* p, vector x) { _mm512_storeu_pd(p, x); }
  static void store(double* p, vector x, mask m) { _mm512_mask_storeu_pd(p, m, x); }
  static vector load_half(double const* p) { return _mm512_zextpd256_pd512(_mm256_loadu_pd(p)); }
  static void store_half(double* p, vector x) { _mm256_storeu_pd(p, _mm512_castpd512_pd256(x)); }
  static vector broadcast(double x) { return _mm512_set1_pd(x); }
  static vector broadcast_half(double x) { return _mm512_zextpd256_pd512(_mm256_set1_pd(x)); }
  static vector add(vector a, vector b) { return _mm512_add_pd(a, b); }
  static vector mul(vector a, vector b) { return _mm512_mul_pd(a, b); }
  static vector fma(vector a, vector b, vector c) { return _mm512_fmadd_pd(a, b, c); }
  static void sums(vector const (&x)[4], element* to) {
    for (int i = 0; i < 4; ++i) to[i] = _mm512_reduce_add_pd(x[i]);
  }

  // r[c] holds 8 steps of column c; row p of the result (8 columns) goes to packed + p·stride.
  [[gnu::always_inline]] static void store_transposed(vector (&r)[8], double* packed, std::int64_t stride) {
    vector t[8], u[8];
    for (int c = 0; c < 8; c += 2) {  // pairs of columns within 128-bit lanes
      t[c] = _mm512_unpacklo_pd(r[c], r[c + 1]);
      t[c + 1] = _mm512_unpackhi_pd(r[c], r[c + 1]);
    }
    for (int odd = 0; odd < 2; ++odd)
      for (int half = 0; half < 2; ++half) {  // columns 0–3 or 4–7
        u[4 * half + odd] = _mm512_shuffle_f64x2(t[4 * half + odd], t[4 * half + 2 + odd], 0x88);      // steps 0, 4
        u[4 * half + 2 + odd] = _mm512_shuffle_f64x2(t[4 * half + odd], t[4 * half + 2 + odd], 0xdd);  // steps 2, 6
      }
    for (int odd = 0; odd < 2; ++odd) {
      store(packed + odd * stride, _mm512_shuffle_f64x2(u[odd], u[4 + odd], 0x88));
      store(packed + (4 + odd) * stride, _mm512_shuffle_f64x2(u[odd], u[4 + odd], 0xdd));
      store(packed + (2 + odd) * stride, _mm512_shuffle_f64x2(u[2 + odd], u[6 + odd], 0x88));
      store(packed + (6 + odd) * stride, _mm512_shuffle_f64x2(u[2 + odd], u[6 + odd], 0xdd));
    }
  }
};

struct avx512_f32 {
  using element = float;
  using vector = __m512;
  using mask = __mmask16;
  static constexpr int lanes = 16, nr = 8, tile = 8, most_columns = 9, wide_vectors = 3, narrow = 4, chunk = 8,
                       registers = 32, chunks_ahead = 4;
  static constexpr bool halves = true;
  static bool in_two_turns(microarchitecture here) { return here == microarchitecture::amd_up_to_zen4; }
  static mask first(int count) { return static_cast<mask>((1u << count) - 1); }
  static vector zero() { return _mm512_setzero_ps(); }
  static vector load(float const* p) { return _mm512_loadu_ps(p); }
  static vector load(float const* p, mask m) { return _mm512_maskz_loadu_ps(m, p); }
  static void store(float* p, vector x) { _mm512_storeu_ps(p, x); }
  static void store(float* p, vector x, mask m) { _mm512_mask_storeu_ps(p, m, x); }
  static vector load_half(float const* p) { return _mm512_zextps256_ps512(_mm256_loadu_ps(p)); }
  static void store_half(float* p, vector x) { _mm256_storeu_ps(p, _mm512_castps512_ps256(x)); }
  static vector broadcast(float x) { return _mm512_set1_ps(x); }
  static vector broadcast_half(float x) { return _mm512_zextps256_ps512(_mm256_set1_ps(x)); }
  static vector add(vector a, vector b) { return _mm512_add_ps(a, b); }
  static vector mul(vector a, vector b) { return _mm512_mul_ps(a, b); }
  static vector fma(vector a, vector b, vector c) { return _mm512_fmadd_ps(a, b, c); }
  static void sums(vector const (&x)[4], element* to) {
    for (int i = 0; i < 4; ++i) to[i] = _mm512_reduce_add_ps(x[i]);
  }

  // r[c] holds 16 steps of column c; row p of the result (8 columns) goes to packed + p·stride.
  [[gnu::always_inline]] static void store_transposed(vector (&r)[8], float* packed, std::int64_t stride) {
    vector t[8], u[8];
    for (int c = 0; c < 8; c += 2) {
      t[c] = _mm512_unpacklo_ps(r[c], r[c + 1]);
      t[c + 1] = _mm512_unpackhi_ps(r[c], r[c + 1]);
    }
    for (int half = 0; half < 2; ++half)  // columns 0–3 or 4–7; u[4·half + s] holds steps s, 4+s, 8+s, 12+s
      for (int odd = 0; odd < 2; ++odd) {
        __m512d const lo = _mm512_castps_pd(t[4 * half + odd]), hi = _mm512_castps_pd(t[4 * half + 2 + odd]);
        u[4 * half + 2 * odd] = _mm512_castpd_ps(_mm512_unpacklo_pd(lo, hi));
        u[4 * half + 2 * odd + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(lo, hi));
      }
    for (int s = 0; s < 4; ++s) {
      __m512 const a = _mm512_shuffle_f32x4(u[s], u[4 + s], 0x44);  // steps s, 4+s of columns 0–3, then of 4–7
      __m512 const b = _mm512_shuffle_f32x4(u[s], u[4 + s], 0xee);  // steps 8+s, 12+s
      __m512 const near = _mm512_shuffle_f32x4(a, a, 0xd8), far = _mm512_shuffle_f32x4(b, b, 0xd8);
      _mm256_storeu_ps(packed + s * stride, _mm512_castps512_ps256(near));
      _mm256_storeu_ps(packed + (4 + s) * stride, _mm512_extractf32x8_ps(near, 1));
      _mm256_storeu_ps(packed + (8 + s) * stride, _mm512_castps512_ps256(far));
      _mm256_storeu_ps(packed + (12 + s) * stride, _mm512_extractf32x8_ps(far, 1));
    }
  }
};

bool available() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
}

}  // namespace

kernel_set<double> const avx512_kernels_f64{"avx512",
                                            available,
                                            simd_kernels<avx512_f64>::blocks,
                                            simd_packing<avx512_f64>::pack_a,
                                            simd_packing<avx512_f64>::pack_b,
                                            simd_kernels<avx512_f64>::macro,
                                            avx512_f64::lanes / 2,
                                            simd_kernels<avx512_f64>::asks_below,
                                            first_tile<avx512_f64>,
                                            simd_dots<avx512_f64>::dots,
                                            avx512_f64::lanes / 2,
                                            avx512_f64::lanes / 2};
kernel_set<float> const avx512_kernels_f32{"avx512",
                                           available,
                                           simd_kernels<avx512_f32>::blocks,
                                           simd_packing<avx512_f32>::pack_a,
                                           simd_packing<avx512_f32>::pack_b,
                                           simd_kernels<avx512_f32>::macro,
                                           avx512_f32::lanes / 2,
                                           simd_kernels<avx512_f32>::asks_below,
                                           first_tile<avx512_f32>,
                                           simd_dots<avx512_f32>::dots,
                                           avx512_f32::lanes / 2,
                                           avx512_f32::lanes / 2};

}  // namespace heptad::cpu
